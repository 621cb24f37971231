// Warns if no node can satisfy the residency rule of a deployment at present. The rule is stored nevertheless.

import { NODE_COUNTRY, NODE_REGION, type ResidencyDemand, type Warning } from '@holdfast/contract'
import { answersResidency, desiredResidency } from '../../scheduling/residency.ts'
import type { ResidencyFact } from './facts.ts'

const FIELD = 'placement.residency'
const ENFORCEMENT_OFF =
  'This control plane does not enforce residency (residency.enforcement is off), so a deployment with residency rules gets no new replica, even if a node matches.'
/** Maximum number of countries, and of regions, that a warning lists, so that the response stays readable. */
const MOST_LISTED = 250

/** Warns about the residency rule of the spec to be stored, even if the request did not send the rule. */
export function explainResidency(
  demand: ResidencyDemand | undefined,
  { rules, reachable }: ResidencyFact,
): Warning[] {
  const rule = desiredResidency(demand, rules)
  if (rule === undefined) return []
  if (!rule.enforced) return [{ code: 'residency_enforcement_off', field: FIELD, why: ENFORCEMENT_OFF }]
  if (reachable.some((node) => answersResidency(rule, node))) return []
  const [countries, regions] = [distinct(reachable, NODE_COUNTRY), distinct(reachable, NODE_REGION)]
  const advertised =
    reachable.length === 0
      ? 'No node of this tenant is reachable.'
      : `Reachable nodes advertise the countries ${listed(countries)} and the regions ${listed(regions)}.`
  const why = `No reachable node satisfies this residency rule, so no new replica is placed. ${advertised}`
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
