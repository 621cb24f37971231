// Where a deployment may be, as data: the labels that SPEC 2.7 stores a demand as, the wish that filters judge, and whether
// the labels of a node answer it.

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

/** A block that demands nothing is no demand. */
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

/** Hard: a node that reports no country is in none that is demanded. */
export const isInCountry = ({ country }: DesiredResidency, labels: Labels): boolean =>
  country === undefined || labelOf(NODE_COUNTRY, labels) === country

/** It says so itself, or it is in a country that the region covers. */
export function isInRegion({ region, regionCountries }: DesiredResidency, labels: Labels): boolean {
  if (region === undefined || labelOf(NODE_REGION, labels) === region) return true
  const country = labelOf(NODE_COUNTRY, labels)
  return country !== undefined && regionCountries.includes(country)
}

/** Of a node, what counts of where it stands. */
export type Stand = Pick<NodeFacts, 'labels' | 'hiddenCountry'>

/** Whether every filter that asks for labels, or for where a node stands, answers the same of both. */
export function sameStand(left: Stand, right: Stand): boolean {
  const keys = Object.keys(left.labels)
  const sameKeys = keys.length === Object.keys(right.labels).length
  if (!sameKeys || left.hiddenCountry !== right.hiddenCountry) return false
  return keys.every((key) => left.labels[key] === right.labels[key])
}

/** As far as a country may be blocked. */
export const countryOf = ({ labels, hiddenCountry }: Stand): string | undefined =>
  labelOf(NODE_COUNTRY, labels) ?? hiddenCountry

/** A node that reports no country is in none of the list. DECISIONS 7. */
export function isBlocked({ blockedCountries = [] }: DesiredResidency, node: Stand): boolean {
  const country = countryOf(node)
  return country !== undefined && blockedCountries.includes(country)
}

/** Whether the node stands where the deployment may be; whether that is enforced is another question. */
export const answersResidency = (wish: DesiredResidency, node: Stand): boolean =>
  isInCountry(wish, node.labels) && isInRegion(wish, node.labels) && !isBlocked(wish, node)
