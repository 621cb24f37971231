// Residency requirements are sent as a block and stored as labels. Each new label is reported as an alteration.

import {
  type Alteration,
  type DeploymentRecord,
  type DeploymentSpec,
  RESIDENCY_LABELS,
  type ResidencyDemand,
} from '@holdfast/contract'
import { residencyLabels } from '../../scheduling/residency.ts'

const WHY = 'Residency is stored as this label, which the server writes and residencyLabels shows.'

/** Reports added residency labels. Existing labels are not reported, so a PUT of what GET returned reports none. */
export function explainResidencyLabels(
  { placement }: DeploymentSpec,
  current: DeploymentRecord | undefined,
): Alteration[] {
  const demand = placement?.residency ?? {}
  const labels = residencyLabels(demand)
  return RESIDENCY_KEYS.flatMap((key): Alteration[] => {
    const name = RESIDENCY_LABELS[key]
    const [from, label] = [demand[key], labels[name]]
    if (from === undefined || label === undefined || current?.residencyLabels[name] === label) return []
    const to = { [name]: label }
    return [{ code: 'residency_stored_as_label', field: `placement.residency.${key}`, from, to, why: WHY }]
  })
}

export const RESIDENCY_KEYS: readonly (keyof ResidencyDemand)[] = ['country', 'region', 'blockedCountries']
