// End-state invariant: when all faults are over, every volume is ready with all its copies, or has a reason that is true:
// no node fits, its node was removed, or its drain has nowhere to go. Current copies are promotable. Nothing waits for a
// deletion.

import type { NodeId, TenantId } from '@holdfast/contract'
import type { StoredNode, StoredVolume } from '@holdfast/server/store/records'
import type { Script } from '../../script/script.ts'
import type { Broken, Invariant } from '../invariant.ts'
import type { Moment } from '../moment.ts'
import { residencyForbids } from '../placement/where-allowed.ts'
import { acceptsCopies } from './copies.ts'

export const volumesSettled: Invariant = {
  name: 'volumes-settled',
  atEnd: true,
  start: (script) =>
    function* (moment) {
      for (const { tenant, record } of moment.volumes.all)
        if (tenant !== undefined)
          for (const message of unsettled(moment, tenant, record, script))
            yield { subject: record.spec.name, message }
      yield* strayClaims(moment)
    },
}

function* unsettled(
  moment: Moment,
  tenant: TenantId,
  volume: StoredVolume,
  script: Script,
): Generator<string> {
  const { phase, reason, primary, leaving = [], handover, spec } = volume
  const isGone = primary !== null && moment.nodes.is(tenant, primary.nodeId) === undefined
  const shown = `is ${phase}${reason === null ? '' : ` (${reason})`}`
  for (const { nodeId } of leaving) yield `still waits for ${nodeId} to delete its copy`
  if (handover?.to !== undefined) yield `is still handed over to ${handover.to}`
  if (phase === 'Pending') {
    const open = placesForCopy(moment, tenant, volume, script)
    if (open.length > 0) yield `${shown}, and ${open.join(', ')} would accept it`
  } else if (phase === 'Lost' || (phase === 'Degraded' && reason === 'node_removed')) {
    if (!isGone && phase === 'Degraded') yield `${shown}, and its node is there`
  } else if (phase !== 'Ready') yield shown
  else yield* lessThanDesired(moment, tenant, volume, script)
  if (phase === 'Ready') yield* stuckDrain(moment, tenant, volume, script)
  if (phase === 'Deleting') yield `${spec.name} is still being deleted`
}

function* lessThanDesired(
  moment: Moment,
  tenant: TenantId,
  volume: StoredVolume,
  script: Script,
): Generator<string> {
  const { copies, spec, reason } = volume
  const behind = copies.filter(({ state }) => state !== 'current')
  for (const { nodeId, state } of behind) yield `is ready, and its copy on ${nodeId} is ${state}`
  yield* unpromotable(moment, tenant, volume)
  const kept = copies.filter(({ role, evacuating }) => role === 'replica' && evacuating !== true)
  const open = kept.length < spec.replicas ? placesForCopy(moment, tenant, volume, script) : []
  if (open.length > 0)
    yield `has ${kept.length} of ${spec.replicas} replicas, and ${open.join(', ')} would accept one`
  if (kept.length === spec.replicas && behind.length === 0 && reason !== null) yield `is ready (${reason})`
}

/** A replica that is current, on a node that accepts the primary, is promotable again. */
function* unpromotable(
  moment: Moment,
  tenant: TenantId,
  { spec, copies, promotable = [] }: StoredVolume,
): Generator<string> {
  if (spec.class !== 'replicated') return
  for (const { nodeId, role, state, evacuating } of copies) {
    const node = moment.nodes.is(tenant, nodeId)
    if (node === undefined || role === 'primary' || state !== 'current' || evacuating === true) continue
    const promises = node.agent?.capabilities?.includes('promises') === true
    if (promises && acceptsCopies(moment, tenant, node) === undefined && !promotable.includes(nodeId))
      yield `is ready, and its current copy on ${node.name} is not promotable`
  }
}

/** Names of the nodes that would accept one more copy of the volume. */
function placesForCopy(
  moment: Moment,
  tenant: TenantId,
  { spec, copies, leaving = [] }: StoredVolume,
  { cluster }: Script,
): string[] {
  const taken = new Set([...copies, ...leaving].map(({ nodeId }) => nodeId))
  return (
    moment.nodes.all
      .filter((kept) => kept.tenant === tenant && !taken.has(kept.record.id))
      .map(({ record }) => record)
      .filter((node) => acceptsCopies(moment, tenant, node) === undefined)
      // Only the primary follows the node that the volume names.
      .filter(({ id }) => copies.length > 0 || spec.nodeId === undefined || spec.nodeId === id)
      .filter(
        (node) =>
          residencyForbids({ placement: { residency: spec.residency ?? {} } }, node, cluster) === undefined,
      )
      .filter((node) => freeBytes(moment, tenant, node) >= 2 * spec.sizeBytes)
      .map(({ name }) => name)
  )
}

function freeBytes({ volumes }: Moment, tenant: TenantId, { id, storage }: StoredNode): number {
  const own = volumes.all.filter((kept) => kept.tenant === tenant).map(({ record }) => record)
  const used = own
    .filter(({ copies, leaving = [] }) => [...copies, ...leaving].some(({ nodeId }) => nodeId === id))
    .reduce((sum, { spec }) => sum + 2 * spec.sizeBytes, 0)
  return Math.floor((storage?.poolBytes ?? 0) * 0.95) - used
}

/** A volume without consumers leaves a drained node if a current replica is on a node that accepts it. */
function* stuckDrain(
  moment: Moment,
  tenant: TenantId,
  volume: StoredVolume,
  { cluster }: Script,
): Generator<string> {
  const { id, spec, primary, copies } = volume
  const node = primary === null ? undefined : moment.nodes.is(tenant, primary.nodeId)
  if (node?.draining !== true || node.schedulable || isMounted(moment, tenant, id)) return
  const accepts = (nodeId: NodeId): boolean => {
    const other = moment.nodes.is(tenant, nodeId)
    if (other === undefined || acceptsCopies(moment, tenant, other) !== undefined) return false
    return residencyForbids({ placement: { residency: spec.residency ?? {} } }, other, cluster) === undefined
  }
  const targets = copies.filter(
    ({ role, state, nodeId }) => role === 'replica' && state === 'current' && accepts(nodeId),
  )
  if (targets.length > 0)
    yield `is on the drained ${node.name}, and ${targets.map(({ nodeId }) => nodeId).join(', ')} could have it`
}

const isMounted = ({ deployments }: Moment, tenant: TenantId, id: string): boolean =>
  deployments.all.some(
    (kept) => kept.tenant === tenant && kept.record.spec.volumes?.some(({ volume }) => volume === id),
  )

/** A claim ends with the mount and the last container of its deployment. */
function* strayClaims({ volumeWriters, deployments, placements }: Moment): Generator<Broken> {
  for (const { tenant, id, record } of volumeWriters.all) {
    if (record.state !== 'releasing') continue
    const owned = placements.all.find((kept) => kept.tenant === tenant && kept.record.owner === record.owner)
    const isUsed = owned?.record.rollout !== undefined || (owned?.record.assignments.length ?? 0) > 0
    const exists = deployments.all.some(
      (kept) => kept.tenant === tenant && kept.record.spec.name === record.name,
    )
    if (!isUsed || !exists)
      yield { subject: id, message: `is still claimed by ${record.name}, which mounts it no more` }
  }
}
