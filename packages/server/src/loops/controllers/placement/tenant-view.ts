// The scheduling view of one tenant, updated with each change of the cache. The view includes the reservations of this
// process, so that two concurrent plans never use the same capacity. See docs/design/placement.md#candidates

import {
  type AssignmentId,
  deploymentUidOf,
  type JobId,
  jobIdOf,
  type NodeId,
  type Owner,
  type TenantId,
} from '@holdfast/contract'
import {
  hasFailedEngine,
  type NodeDisposition,
  type NodeFacts,
  type RetryTrigger,
  requestedBy,
  sameStand,
} from '@holdfast/core'
import {
  type CountedReplicas,
  createSchedulingView,
  hasSameRequests,
  placeOf,
  type SchedulingView,
  sameAgent,
  sameFaults,
} from '@holdfast/core/placement'
import { isDraining } from '../../../operations/nodes/drain-node.ts'
import type { Quotas } from '../../../quotas/quotas.ts'
import {
  type AssignedWork,
  countedName,
  NOTHING,
  nodeFacts,
  requestsOf,
} from '../../../scheduling/scheduling-facts.ts'
import { nodeNames, nodes, placements, type StoredNode } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { globally, inTenant, placementAt } from '../../../store/transaction.ts'

/** The least number of nodes of a tenant for which controllers work in slices. */
export const MANY_NODES = 500

export interface TenantView {
  readonly scheduling: SchedulingView
  /** The replicas of an owner in the view: those of its reservation, or else those of its cached placement. */
  countedOf(owner: Owner): CountedReplicas
  /**
   * Adds a planned placement to the view before it is stored. The reservation ends once the cache has a placement newer
   * than `decidedOn`, the revision that the plan was made from.
   */
  reserve(owner: Owner, placement: CountedReplicas, decidedOn: number): void
  /** Drops the owner's reservation; the view then uses the cached placement again. */
  release(owner: Owner): void
  /** Updates the view with the owner's cached placement, and returns how that placement has changed. */
  applyPlacement(owner: Owner): PlacementChange
  /** Updates the view with the cached record of a node, and returns what changed: the triggers for a retry. */
  applyNode(id: NodeId): RetryTrigger[]
  /** The node's facts; undefined if the node is not enrolled or its record is unreadable. */
  nodeOf(id: NodeId): NodeFacts | undefined
  /** The disposition of a node, from its record and its claim: absent, failed, leaving or staying. */
  dispositionOf(id: NodeId): NodeDisposition
  /** The nodes that are being drained or released. */
  leaving(): NodeId[]
  /** Number of containers that this owner may have: the tenant's quota minus the containers of other owners. */
  roomBeside(owner: Owner): number
  /** The names of the deployments with a replica on the node, sorted. */
  deploymentsOn(id: NodeId): readonly string[]
  /** The jobs with an attempt on the node. */
  jobsOn(id: NodeId): readonly JobId[]
  /** Updates the view with the current quota of containers. */
  applyQuota(): void
  /** Rebuilds the view from the cache step by step, in case a change was missed. The cache may change in between. */
  refresh(): Generator<undefined, void>
  /** The number of nodes in the view. */
  readonly size: number
}

export type PlacementChange = 'none' | 'grown' | 'freed'

interface Counted extends CountedReplicas {
  readonly decidedOn: number
}

type ViewStore = Pick<Store, 'get' | 'list'>

interface State {
  readonly store: ViewStore
  readonly quotas: Pick<Quotas, 'limit'>
  readonly tenant: TenantId
  readonly scheduling: SchedulingView
  readonly counted: Map<Owner, Counted>
  /** For each deployment, the placement in the cache at its last change, with which the next change is compared. */
  readonly shown: Map<Owner, CountedReplicas>
  readonly byNode: Map<NodeId, Map<AssignmentId, AssignedWork>>
  readonly nodes: Map<NodeId, NodeFacts>
  used: number
}

export function createTenantView(
  store: ViewStore,
  quotas: Pick<Quotas, 'limit'>,
  tenant: TenantId,
): TenantView {
  const view = createEmptyView(store, quotas, tenant)
  for (const _step of view.refresh());
  return view
}

/** A view without nodes and placements. The caller enters them with `applyNode` and `applyPlacement`. */
export function createEmptyView(
  store: ViewStore,
  quotas: Pick<Quotas, 'limit'>,
  tenant: TenantId,
): TenantView {
  const scheduling = createSchedulingView({ nodes: [], containers: { used: 0, limit: 0 } })
  const state: State = {
    store,
    quotas,
    tenant,
    scheduling,
    used: 0,
    counted: new Map(),
    shown: new Map(),
    byNode: new Map(),
    nodes: new Map(),
  }
  return {
    scheduling,
    countedOf: (owner) => state.counted.get(owner) ?? EMPTY,
    reserve: (owner, placement, decidedOn) => {
      count(state, owner, { ...placement, decidedOn })
    },
    release(owner) {
      state.counted.set(owner, { ...(state.counted.get(owner) ?? EMPTY), decidedOn: UNDECIDED })
      applyPlacement(state, owner)
    },
    applyPlacement: (owner) => applyPlacement(state, owner),
    applyNode: (id) => applyNode(state, id),
    nodeOf: (id) => state.nodes.get(id),
    dispositionOf: (id) => dispositionOf(state, id),
    leaving: () => [...state.nodes.keys()].filter((id) => dispositionOf(state, id) === 'leaving'),
    roomBeside(owner) {
      const own = state.counted.get(owner)?.assignments.length ?? 0
      return quotas.limit(tenant, 'containers') - state.used + own
    },
    deploymentsOn(id) {
      const work = [...(state.byNode.get(id)?.values() ?? [])]
      const own = work.filter((one) => deploymentUidOf(one.owner) !== undefined)
      return [...new Set(own.map(({ name }) => name))].sort()
    },
    jobsOn(id) {
      const work = [...(state.byNode.get(id)?.values() ?? [])]
      return [...new Set(work.flatMap(({ owner }) => jobIdOf(owner) ?? []))]
    },
    applyQuota: () => applyQuota(state),
    refresh: () => refresh(state),
    get size() {
      return state.nodes.size
    },
  }
}

function dispositionOf(state: State, id: NodeId): NodeDisposition {
  const node = state.store.get(inTenant(state.tenant, nodes, id))?.record
  if (node === undefined) return 'absent'
  // A failed node counts as failed even while it is being drained. So does one whose engine has failed.
  if (node.status === 'failed' || hasFailedEngine(node)) return 'failed'
  return isDraining(node) || isReleasing(state, node) ? 'leaving' : 'staying'
}

/** Whether the tenant's claim on the node is `releasing`. False for an unreadable claim, so no replica is moved. */
function isReleasing({ store, tenant }: State, { id, name }: StoredNode): boolean {
  const claims = store.get(globally(nodeNames, name))?.record.claims ?? []
  return claims.some((each) => each.tenant === tenant && each.nodeId === id && each.state === 'releasing')
}

const UNDECIDED = -1
const EMPTY: Counted = { name: '', resources: NOTHING, assignments: [], decidedOn: UNDECIDED }

/** The most records that one step enters. */
const IN_STEP = 100

function* refresh(state: State): Generator<undefined, void> {
  const { store, tenant } = state
  const listed = store.list(nodes, tenant).map(({ record }) => record.id)
  let entered = 0
  for (const id of new Set([...listed, ...state.nodes.keys()])) {
    applyNode(state, id)
    entered += 1
    if (entered % IN_STEP === 0) yield
  }
  const placed = store.list(placements, tenant).map(({ record }) => record.owner)
  for (const owner of new Set([...placed, ...state.counted.keys()])) {
    applyPlacement(state, owner)
    entered += 1
    if (entered % IN_STEP === 0) yield
  }
  applyQuota(state)
}

function applyPlacement(state: State, owner: Owner): PlacementChange {
  const { store, tenant } = state
  const found = store.get(placementAt(tenant, owner))
  const record = found?.record
  const now: CountedReplicas =
    record === undefined
      ? EMPTY
      : {
          name: countedName(record),
          assignments: record.assignments,
          ...requestsOf(store, tenant, record),
        }
  const change = changeOf(state.shown.get(owner) ?? EMPTY, now)
  if (record === undefined) state.shown.delete(owner)
  else state.shown.set(owner, now)
  const { decidedOn } = state.counted.get(owner) ?? EMPTY
  // True while the cached placement is older than the reservation, whose write has not reached the cache yet.
  const isOutdated =
    decidedOn !== UNDECIDED && (found === undefined ? decidedOn === 0 : found.modRevision <= decidedOn)
  if (!isOutdated) count(state, owner, { ...now, decidedOn: UNDECIDED })
  return change
}

function changeOf(before: CountedReplicas, now: CountedReplicas): PlacementChange {
  const hasChangedRequests = !hasSameRequests(before, now)
  if (before.assignments === now.assignments && !hasChangedRequests) return 'none'
  const kept = new Set(now.assignments.map(({ id }) => id))
  const isFreed = before.assignments.some(({ id }) => !kept.has(id))
  if (isFreed || (before.assignments.length > 0 && hasChangedRequests)) return 'freed'
  return now.assignments.length > before.assignments.length ? 'grown' : 'none'
}

/** Replaces the owner's replicas in the view. */
function count(state: State, owner: Owner, now: Counted): void {
  const before = state.counted.get(owner) ?? EMPTY
  if (now.assignments.length === 0) state.counted.delete(owner)
  else state.counted.set(owner, now)
  if (before.assignments.length === 0 && now.assignments.length === 0) return
  const sameRequests = hasSameRequests(before, now)
  const kept = new Set(sameRequests ? now.assignments.map(placeOf) : [])
  const known = new Set(sameRequests ? before.assignments.map(placeOf) : [])
  for (const each of before.assignments) if (!kept.has(placeOf(each))) leave(state, each.nodeId, each.id)
  for (const each of now.assignments)
    if (!known.has(placeOf(each)))
      enter(state, each, { owner, name: now.name, resources: requestedBy(now, each) })
  applyQuota(state)
}

function enter(
  state: State,
  { nodeId, id }: CountedReplicas['assignments'][number],
  work: AssignedWork,
): void {
  const taken = state.byNode.get(nodeId) ?? new Map<AssignmentId, AssignedWork>()
  state.byNode.set(nodeId, taken)
  taken.set(id, work)
  state.used += 1
  state.scheduling.applyAssigned(nodeId, work.name, work.resources)
}

function leave(state: State, nodeId: NodeId, id: AssignmentId): void {
  const taken = state.byNode.get(nodeId)
  const known = taken?.get(id)
  if (taken === undefined || known === undefined) return
  taken.delete(id)
  if (taken.size === 0) state.byNode.delete(nodeId)
  state.used -= 1
  state.scheduling.applyReleased(nodeId, known.name, known.resources)
}

/** Passes the tenant's containers and quota to the scheduler, which does not know replicas on nodes that are gone. */
function applyQuota({ scheduling, quotas, tenant, used }: State): void {
  scheduling.setContainers({ used, limit: quotas.limit(tenant, 'containers') })
}

function applyNode(state: State, id: NodeId): RetryTrigger[] {
  const { store, tenant, scheduling } = state
  const record = store.get(inTenant(tenant, nodes, id))?.record
  const before = state.nodes.get(id)
  if (record === undefined) {
    state.nodes.delete(id)
    scheduling.removeNode(id)
    return before === undefined ? [] : ['placements']
  }
  const now = nodeFacts(store, tenant, record, state.byNode.get(id)?.values() ?? [])
  state.nodes.set(id, now)
  scheduling.setNode(now)
  return before === undefined ? ['node_enrolled'] : changesOf(before, now)
}

function changesOf(before: NodeFacts, now: NodeFacts): RetryTrigger[] {
  const kinds: RetryTrigger[] = []
  if (before.status !== now.status || !sameFaults(before, now)) kinds.push('node_status')
  if (before.schedulable !== now.schedulable) kinds.push('node_schedulable')
  if (before.controlPlane !== now.controlPlane) kinds.push('node_role')
  if (before.claim !== now.claim) kinds.push('node_claims')
  if (!sameAgent(before.agent, now.agent)) kinds.push('node_agent')
  if (!sameStand(before, now)) kinds.push('node_labels')
  const { cpuMillis, memoryBytes } = before.capacity
  const hasOtherPool = (before.pool === undefined) !== (now.pool === undefined)
  if (cpuMillis !== now.capacity.cpuMillis || memoryBytes !== now.capacity.memoryBytes || hasOtherPool)
    kinds.push('node_capacity')
  return kinds
}
