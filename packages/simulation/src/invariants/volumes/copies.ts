// Invariants of the record of a volume: where its copies may be, how its epoch counts, and that pools are never promised
// more bytes than they have.

import type { NodeId, TenantId } from '@holdfast/contract'
import type { StoredNode, StoredVolume } from '@holdfast/server/store/records'
import type { Broken, Invariant } from '../invariant.ts'
import { isOfPlatform, isReleased, type Moment } from '../moment.ts'
import { type Cluster, residencyForbids } from '../placement/where-allowed.ts'

export const copiesAllowed: Invariant = {
  name: 'copies-allowed',
  start: ({ cluster }) =>
    function* (moment) {
      for (const { tenant, was, is } of moment.volumes.changed) {
        if (tenant === undefined || is === undefined) continue
        yield* heldTwice(is)
        const known = new Set(was?.copies.map(({ nodeId }) => nodeId))
        const added = is.copies.map(({ nodeId }) => nodeId).filter((nodeId) => !known.has(nodeId))
        for (const nodeId of [...added, ...newTarget(was, is)]) {
          const why = refusal(moment, tenant, is, nodeId, cluster)
          if (why !== undefined)
            yield { subject: is.spec.name, message: `gets a copy on ${nodeId}, which ${why}` }
        }
        yield* behindTarget(was, is)
      }
    },
}

/** The node to which a handover begins. */
function newTarget(was: StoredVolume | undefined, { handover }: StoredVolume): NodeId[] {
  const to = handover?.to
  return to === undefined || was?.handover?.to === to ? [] : [to]
}

/** A handover begins only to a replica that was current when the volume was last written. */
function* behindTarget(was: StoredVolume | undefined, is: StoredVolume): Generator<Broken> {
  for (const to of newTarget(was, is)) {
    const state = was?.copies.find(({ nodeId }) => nodeId === to)?.state
    if (state !== 'current')
      yield { subject: is.spec.name, message: `is handed over to ${to}, whose copy is ${state ?? 'missing'}` }
  }
}

function* heldTwice({ spec, copies, leaving = [], primary }: StoredVolume): Generator<Broken> {
  const nodes = [...copies, ...leaving].map(({ nodeId }) => nodeId)
  if (new Set(nodes).size < nodes.length)
    yield { subject: spec.name, message: `is listed twice on a node: ${nodes.join(', ')}` }
  const primaries = copies.filter(({ role }) => role === 'primary')
  if (copies.length > 0 && (primaries.length !== 1 || primaries[0]?.nodeId !== primary?.nodeId))
    yield { subject: spec.name, message: `has ${primaries.length} primaries beside ${primary?.nodeId}` }
}

/** Why a node must not get a copy, from its record when the copy was placed; undefined if it may. */
function refusal(
  moment: Moment,
  tenant: TenantId,
  { spec }: StoredVolume,
  nodeId: NodeId,
  cluster: Cluster,
): string | undefined {
  const node = moment.nodes.was(tenant, nodeId)
  if (node === undefined) return 'is no node of the tenant'
  return (
    acceptsCopies(moment, tenant, node) ??
    residencyForbids({ placement: { residency: spec.residency ?? {} } }, node, cluster)
  )
}

/** Why the node accepts no copy of any volume; undefined if it does. */
export function acceptsCopies(moment: Moment, tenant: TenantId, node: StoredNode): string | undefined {
  const { status, schedulable, draining, storage, agent, controlPlane } = node
  if (controlPlane && !isOfPlatform(moment, tenant)) return 'is the control plane’s'
  if (isReleased(moment, tenant, node)) return 'is being removed'
  if (status !== 'ready') return `is ${status}`
  if (!schedulable || draining === true) return 'takes no new work'
  if (storage === undefined || storage.fault !== undefined) return 'has no pool'
  return agent?.capabilities?.includes('volumes') === true ? undefined : 'has an agent without volumes'
}

/** Invariant: a node whose drain has ended gets no primary until it is uncordoned. */
export const drainedStays: Invariant = {
  name: 'drained-stays',
  start() {
    const drained = new Set<string>()
    return function* (moment) {
      for (const { tenant, is } of moment.volumes.changed) {
        const { name } = is?.spec ?? {}
        const to = is?.primary?.nodeId
        if (
          name === undefined ||
          to === undefined ||
          moment.volumes.was(tenant, is?.id ?? '')?.primary?.nodeId === to
        )
          continue
        if (drained.has(to)) yield { subject: name, message: `has its primary on ${to}, which was drained` }
      }
      for (const { id, was, is } of moment.nodes.changed) {
        if (is === undefined || is.schedulable) drained.delete(id)
        else if (was?.draining === true && is.draining !== true) drained.add(id)
      }
    }
  },
}

/**
 * Invariant: the primary changes with a higher epoch only, a handover too, and data moves by handovers and promotions only.
 * A new epoch has no promotable nodes, and every change of primary, promotable nodes or handover has a higher version.
 */
export const volumeEpochs: Invariant = {
  name: 'volume-epochs',
  start: () =>
    function* (moment) {
      for (const { tenant, was, is } of moment.volumes.changed) {
        if (was === undefined || is === undefined || tenant === undefined) continue
        const { name } = is.spec
        const [before, after] = [was.primary?.epoch ?? 0, is.primary?.epoch ?? 0]
        if (after < before) yield { subject: name, message: `went back from epoch ${before} to ${after}` }
        if (is.phase === 'Deleting' || is.phase === 'Lost') continue
        if (was.primary !== null && after === before && was.primary.nodeId !== is.primary?.nodeId)
          yield { subject: name, message: `has another primary in epoch ${after}` }
        if (was.handover?.to !== undefined && is.handover?.to !== was.handover.to && after === before)
          yield { subject: name, message: `ended a handover in epoch ${after}, in which it may be released` }
        yield* movedWithoutHandover(was, is)
        yield* unversioned(was, is)
      }
    },
}

function* unversioned(was: StoredVolume, is: StoredVolume): Generator<Broken> {
  const shown = ({ primary, promotable = [], handover }: StoredVolume) =>
    JSON.stringify([primary?.nodeId, primary?.epoch, promotable, handover?.to])
  if (shown(was) !== shown(is) && (is.cv ?? 0) <= (was.cv ?? 0))
    yield { subject: is.spec.name, message: `changed from ${shown(was)} to ${shown(is)} in version ${is.cv}` }
  if (was.primary?.epoch !== is.primary?.epoch && (is.promotable ?? []).length > 0)
    yield { subject: is.spec.name, message: `begins epoch ${is.primary?.epoch} with promotable nodes` }
}

function* movedWithoutHandover(was: StoredVolume, is: StoredVolume): Generator<Broken> {
  const isMoved = was.primary !== null && was.primary.nodeId !== is.primary?.nodeId
  const isPromoted = is.promotions?.[0]?.toEpoch === is.primary?.epoch
  if (!isMoved || isPromoted || was.provisioned !== true || is.spec.class !== 'replicated') return
  const to = was.handover?.to
  if (to === undefined || to !== is.primary?.nodeId || is.from === undefined)
    yield { subject: is.spec.name, message: `moved from ${was.primary?.nodeId} without a handover` }
}

const CLAIM = 2
const USABLE = 0.95

/** Invariant: the copies on a node, with those that it still deletes, claim twice their size within 95 % of its pool. */
export const poolBytes: Invariant = {
  name: 'pool-bytes',
  start() {
    /** The bytes of each copy. A copy that is being deleted keeps its bytes, whatever the size of the volume. */
    const claims = new Map<string, number>()
    return function* (moment) {
      for (const { id, was, is } of moment.volumes.changed) noteClaims(claims, id, was, is)
      if (moment.volumes.changed.length === 0) return
      for (const { nodeId, name, poolBytes: size } of moment.world.machines) {
        if (size === undefined) continue
        const own = [...claims].filter(([key]) => key.endsWith(`/${nodeId}`))
        const sum = own.reduce((total, [, bytes]) => total + bytes, 0)
        if (sum > size * USABLE)
          yield { subject: name, message: `has ${sum} bytes of copies in a pool of ${size}` }
      }
    }
  },
}

function noteClaims(
  claims: Map<string, number>,
  id: string,
  was: StoredVolume | undefined,
  is: StoredVolume | undefined,
): void {
  const listed = new Set([...(is?.copies ?? []), ...(is?.leaving ?? [])].map(({ nodeId }) => nodeId))
  for (const { nodeId } of [...(was?.copies ?? []), ...(was?.leaving ?? [])])
    if (!listed.has(nodeId)) claims.delete(`${id}/${nodeId}`)
  for (const { nodeId } of is?.copies ?? []) claims.set(`${id}/${nodeId}`, CLAIM * (is?.spec.sizeBytes ?? 0))
}
