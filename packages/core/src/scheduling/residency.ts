// Residency demands: the labels that a demand is stored as, the demand with the configuration applied, and whether a node
// satisfies the demand. See docs/design/residency.md#demands

import {
  NODE_COUNTRY,
  NODE_REGION,
  RESIDENCY_LABELS,
  type ResidencyDemand,
  type ResidencyRules,
} from '@holdfast/contract'
import type { DesiredResidency, NodeFacts } from './facts.ts'
import { labelOf } from './labels.ts'

export function residencyLabels({ country, region, blockedCountries }: ResidencyDemand = {}): {
  [label: string]: string
} {
  return {
    ...(country === undefined ? {} : { [RESIDENCY_LABELS.country]: country }),
    ...(region === undefined ? {} : { [RESIDENCY_LABELS.region]: region }),
    ...(blockedCountries === undefined || blockedCountries.length === 0
      ? {}
      : { [RESIDENCY_LABELS.blockedCountries]: blockedCountries.join(',') }),
  }
}

/** Returns undefined for a residency block without any demand. */
export function desiredResidency(
  demand: ResidencyDemand | undefined,
  { enforcement, regions }: ResidencyRules,
): DesiredResidency | undefined {
  if (demand === undefined || Object.keys(residencyLabels(demand)).length === 0) return undefined
  const { region } = demand
  const known = region !== undefined && Object.hasOwn(regions, region) ? regions[region] : undefined
  return { ...demand, enforced: enforcement, regionCountries: known ?? [] }
}

type Labels = NodeFacts['labels']

/** Whether a node reports the demanded country; true if no country is demanded. */
export const isInCountry = ({ country }: DesiredResidency, labels: Labels): boolean =>
  country === undefined || labelOf(NODE_COUNTRY, labels) === country

/** Whether a node reports the demanded region or a country of that region; true if no region is demanded. */
export function isInRegion({ region, regionCountries }: DesiredResidency, labels: Labels): boolean {
  if (region === undefined || labelOf(NODE_REGION, labels) === region) return true
  const country = labelOf(NODE_COUNTRY, labels)
  return country !== undefined && regionCountries.includes(country)
}

/** The part of a node's facts that the filters on location and labels read. */
export type Stand = Pick<NodeFacts, 'labels' | 'hiddenCountry'>

/** Whether two nodes are equal in everything that the filters on location and labels read. */
export function sameStand(left: Stand, right: Stand): boolean {
  const keys = Object.keys(left.labels)
  const sameKeys = keys.length === Object.keys(right.labels).length
  if (!sameKeys || left.hiddenCountry !== right.hiddenCountry) return false
  return keys.every((key) => left.labels[key] === right.labels[key])
}

/**
 * The country that is compared with blocked countries: the reported country, or the attested country of a node with a
 * false report.
 */
export const countryOf = ({ labels, hiddenCountry }: Stand): string | undefined =>
  labelOf(NODE_COUNTRY, labels) ?? hiddenCountry

/** Whether a node is in a blocked country. A node whose country is unknown is in no blocked country. */
export function isBlocked({ blockedCountries = [] }: DesiredResidency, node: Stand): boolean {
  const country = countryOf(node)
  return country !== undefined && blockedCountries.includes(country)
}

/** Whether the node's location satisfies the residency demands, whether or not residency is enforced. */
export const answersResidency = (desired: DesiredResidency, node: Stand): boolean =>
  isInCountry(desired, node.labels) && isInRegion(desired, node.labels) && !isBlocked(desired, node)
