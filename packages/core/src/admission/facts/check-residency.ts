// Can the control plane honour what a deployment demands of where it is? If not, the demand is stored all the same, and the
// answer says which case it is. SPEC 2.7, DECISIONS 2.

import { NODE_COUNTRY, NODE_REGION, type ResidencyDemand, type Warning } from '@holdfast/contract'
import { answersResidency, desiredResidency } from '../../scheduling/residency.ts'
import type { ResidencyFact } from './facts.ts'

const FIELD = 'placement.residency'
const ENFORCEMENT_OFF =
  'This control plane does not enforce residency (residency.enforcement is off), so no replica of a deployment that demands it is newly placed, even where a node matches.'
/** Of each kind: an answer stays readable whatever the nodes advertise. */
const MOST_LISTED = 250

/** Judged on the spec as it is stored, whatever part of it a write sent. */
export function explainResidency(
  demand: ResidencyDemand | undefined,
  { rules, reachable }: ResidencyFact,
): Warning[] {
  const wish = desiredResidency(demand, rules)
  if (wish === undefined) return []
  if (!wish.enforced) return [{ code: 'residency_enforcement_off', field: FIELD, why: ENFORCEMENT_OFF }]
  if (reachable.some((node) => answersResidency(wish, node))) return []
  const [countries, regions] = [distinct(reachable, NODE_COUNTRY), distinct(reachable, NODE_REGION)]
  const advertised =
    reachable.length === 0
      ? 'No node of this tenant is reachable.'
      : `Reachable nodes advertise the countries ${listed(countries)} and the regions ${listed(regions)}.`
  const why = `No reachable node answers this residency, so no replica is newly placed. ${advertised}`
  return [
    {
      code: 'residency_no_match',
      field: FIELD,
      why,
      advertised: { countries: countries.slice(0, MOST_LISTED), regions: regions.slice(0, MOST_LISTED) },
    },
  ]
}

function distinct(nodes: ResidencyFact['reachable'], label: string): string[] {
  const values = nodes.flatMap(({ labels }) => (Object.hasOwn(labels, label) ? [labels[label] ?? ''] : []))
  return [...new Set(values)].sort()
}

function listed(values: readonly string[]): string {
  if (values.length === 0) return '(none)'
  const more = values.length - MOST_LISTED
  return `${values.slice(0, MOST_LISTED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
