// Where a deployment may be is written as a block and told as labels: each label that a write makes is announced, from the
// value that was sent. SPEC 2.7, DECISIONS 2.

import {
  type Alteration,
  type DeploymentRecord,
  type DeploymentSpec,
  RESIDENCY_LABELS,
  type ResidencyDemand,
} from '@holdfast/contract'
import { residencyLabels } from '../../scheduling/residency.ts'

const WHY = 'Residency is kept as this label, which the server writes and residencyLabels shows.'

/** A label that the deployment has already is not made by this write, so that what GET shows may be sent back. */
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
