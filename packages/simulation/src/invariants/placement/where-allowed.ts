// May a deployment run on a node by its residency demands, constraints and nodeId? A second implementation, independent
// of the scheduler, so that the two can be compared. See docs/design/residency.md#demands

import { type DeploymentSpec, NODE_COUNTRY, NODE_REGION } from '@holdfast/contract'
import type { StoredNode } from '@holdfast/server/store/records'
import type { Script } from '../../script/script.ts'

type Labels = StoredNode['labels']
type Constraint = NonNullable<NonNullable<DeploymentSpec['placement']>['constraints']>[number]

export type Cluster = Pick<Script['cluster'], 'regions' | 'residencyEnforced'>

/** The reason why residency forbids the node, from the node's record; undefined if the data may be on the node. */
export function residencyForbids(
  { placement }: Pick<DeploymentSpec, 'placement'>,
  node: StoredNode,
  cluster: Cluster,
): string | undefined {
  const { country, region, blockedCountries = [] } = placement?.residency ?? {}
  if (country === undefined && region === undefined && blockedCountries.length === 0) return undefined
  if (cluster.residencyEnforced === false) return 'residency is demanded and not enforced'
  const stands = standsIn(node)
  if (country !== undefined && stands.country !== country)
    return `it stands in ${stands.country ?? 'no country'}, wanted is ${country}`
  if (region !== undefined && !isInRegion(stands, region, cluster))
    return `it stands in ${stands.country ?? 'no country'} and ${stands.region ?? 'no region'}, wanted is ${region}`
  // A node that advertises false labels is treated as being in its attested country.
  const known = stands.country ?? (node.refusedMark === undefined ? undefined : node.attested.country)
  const blocked = known !== undefined && blockedCountries.includes(known)
  return blocked ? `it stands in ${known}, which is blocked` : undefined
}

interface Stands {
  readonly country: string | undefined
  readonly region: string | undefined
}

/** Location of a node. The node's own labels are used only if enrollment attested them. */
function standsIn({ labels, attested }: StoredNode): Stands {
  const proved = (label: string, value: string | undefined) =>
    labelOf(labels, label) === value ? value : undefined
  return { country: proved(NODE_COUNTRY, attested.country), region: proved(NODE_REGION, attested.region) }
}

function isInRegion(stands: Stands, region: string, { regions = {} }: Cluster): boolean {
  if (stands.region === region) return true
  const covered = Object.hasOwn(regions, region) ? (regions[region] ?? []) : []
  return stands.country !== undefined && covered.includes(stands.country)
}

const labelOf = (labels: Labels, label: string): string | undefined =>
  Object.hasOwn(labels, label) ? labels[label] : undefined

export function constraintsForbid({ placement }: DeploymentSpec, { labels }: StoredNode): string | undefined {
  const unmet = placement?.constraints?.find((constraint) => !holds(constraint, labels))
  return unmet && `${unmet.label} ${unmet.operator} ${unmet.values?.join(', ') ?? ''} does not hold`
}

function holds({ label, operator, values = [] }: Constraint, labels: Labels): boolean {
  const value = labelOf(labels, label)
  const isListed = value !== undefined && values.includes(value)
  return { in: isListed, notIn: !isListed, exists: value !== undefined, notExists: value === undefined }[
    operator
  ]
}
