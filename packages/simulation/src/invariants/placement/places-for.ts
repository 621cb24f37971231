// Which nodes would accept one more replica now? A second implementation of the placement rules, without the scheduler.

import type { NodeId, TenantId } from '@holdfast/contract'
import type { StoredDeployment, StoredNode } from '@holdfast/server/store/records'
import { isOfPlatform, isReleased, type Moment } from '../moment.ts'
import { networksNamed } from '../networks/named.ts'
import { createRecentLimits } from '../records/recent-limit.ts'
import { volumesForbid } from '../volumes/consumers.ts'
import { specOf } from './assigned.ts'
import { type Cluster, constraintsForbid, residencyForbids } from './where-allowed.ts'

/** Names of the nodes that would accept one more replica of the deployment. */
export function placesFor(
  moment: Moment,
  tenant: TenantId,
  stored: StoredDeployment,
  cluster: Cluster,
): string[] {
  const limits = createRecentLimits('containers')
  limits.note(moment)
  const own = moment.placements.all.filter((kept) => kept.tenant === tenant).map(({ record }) => record)
  const used = own.reduce((sum, { assignments }) => sum + assignments.length, 0)
  if (used >= limits.of(tenant, moment.now)) return []
  return moment.nodes.all
    .filter((kept) => kept.tenant === tenant)
    .map(({ record }) => record)
    .filter((node) => !node.controlPlane || isOfPlatform(moment, tenant))
    .filter((node) => !isReleased(moment, tenant, node))
    .filter((node) => isOpen(node, stored) && isRoomy(moment, tenant, stored, node))
    .filter((node) => residencyForbids(stored.spec, node, cluster) === undefined)
    .filter((node) => constraintsForbid(stored.spec, node) === undefined)
    .filter(
      ({ id }) => volumesForbid(stored.spec, id, (volume) => moment.volumes.is(tenant, volume)) === undefined,
    )
    .filter((node) => hasAgentFor(node, stored) && hasNetworksOf(moment, tenant, stored, node))
    .filter((node) =>
      isWelcome(
        stored,
        namesOn(moment, tenant, node.id),
        own.some(({ name }) => name === stored.spec.name),
      ),
    )
    .map(({ name }) => name)
}

/** Only an agent with these capabilities creates a container with mounts or networks. */
const hasAgentFor = ({ agent }: StoredNode, { spec }: StoredDeployment): boolean =>
  [
    ...((spec.volumes ?? []).length === 0 ? [] : ['mounts']),
    ...((spec.networks ?? []).length === 0 ? [] : ['networks']),
  ].every((needed) => agent?.capabilities?.includes(needed) === true)

const hasNetworksOf = (
  moment: Moment,
  tenant: TenantId,
  { spec }: StoredDeployment,
  { id }: StoredNode,
): boolean =>
  (spec.networks ?? []).every((name) =>
    networksNamed(moment, tenant, name).some(({ nodeId }) => nodeId === id),
  )

function isOpen({ status, schedulable, draining, id }: StoredNode, { spec }: StoredDeployment): boolean {
  const isNamed = spec.nodeId === undefined || spec.nodeId === id
  return status === 'ready' && schedulable && draining !== true && isNamed
}

function isRoomy(moment: Moment, tenant: TenantId, { spec }: StoredDeployment, node: StoredNode): boolean {
  return (['cpuMillis', 'memoryBytes'] as const).every((kind) => {
    const asked = spec.resources[kind]
    if (asked === 0) return true
    const taken = replicasOn(moment, tenant, node.id).map(({ name, replica }) => {
      const other = moment.deployments.is(tenant, name)
      return other === undefined ? 0 : specOf(other, replica).resources[kind]
    })
    return taken.reduce((sum, each) => sum + each, asked) <= node.capacity[kind]
  })
}

/** The assignments on the node, with the names of their deployments. */
function replicasOn({ placements }: Moment, tenant: TenantId, id: NodeId) {
  return placements.all
    .filter((kept) => kept.tenant === tenant)
    .flatMap(({ record: { name, assignments } }) =>
      assignments.filter(({ nodeId }) => nodeId === id).map((replica) => ({ name, replica })),
    )
}

/** Deployment names on the node, one for each assignment. */
const namesOn = (moment: Moment, tenant: TenantId, id: NodeId): string[] =>
  replicasOn(moment, tenant, id).map(({ name }) => name)

function isWelcome({ spec }: StoredDeployment, here: readonly string[], runsAlready: boolean): boolean {
  const { affinity = [], antiAffinity = [] } = spec.placement ?? {}
  const isNear = (name: string) => here.includes(name) || (name === spec.name && !runsAlready)
  return affinity.every(isNear) && !antiAffinity.some((name) => here.includes(name))
}
