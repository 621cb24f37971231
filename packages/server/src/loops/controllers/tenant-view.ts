// The scheduler's view of one tenant, kept up change by change from the cache, with what this process has just decided
// already counted: two decisions of one moment never count on the same room. DESIGN 4 and 6.

import type { Assignment, AssignmentId, Capacity, DeploymentUid, NodeId, TenantId } from '@holdfast/contract'
import {
  createSchedulingView,
  type NodeDisposition,
  type NodeFacts,
  type RetryTrigger,
  type SchedulingView,
  sameStand,
} from '@holdfast/core'
import { isDraining } from '../../operations/nodes/drain-node.ts'
import type { Quotas } from '../../quotas/quotas.ts'
import { NOTHING, nodeFacts, requestsOf, type Taken } from '../../scheduling/scheduling-facts.ts'
import { nodeNames, nodes, placements, type StoredNode } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { globally, inTenant } from '../../store/transaction.ts'

export interface TenantView {
  readonly scheduling: SchedulingView
  /**
   * Counts a placement as decided, before the store has it. What the cache shows is believed again once it shows more
   * than the revision that was decided on.
   */
  reserve(uid: DeploymentUid, placement: Reserved, decidedOn: number): void
  /** The decision came to nothing: back to what the cache shows. */
  release(uid: DeploymentUid): void
  /** Enters the placement as the cache shows it; says what may be cured by the change. */
  takePlacement(uid: DeploymentUid): PlacementChange
  /** Enters the node as the cache shows it; says what may be cured by the change. */
  takeNode(id: NodeId): RetryTrigger[]
  /** As the cache shows it; undefined: not enrolled, or not readable. */
  nodeOf(id: NodeId): NodeFacts | undefined
  /** What the node's record and claim mean for the replicas on it. */
  dispositionOf(id: NodeId): NodeDisposition
  /** The nodes that are to be emptied: drained, or given back. */
  leaving(): NodeId[]
  /** The quota of containers, less what other deployments have of it. */
  roomBeside(uid: DeploymentUid): number
  /** The names of the deployments that have a replica on the node. */
  deploymentsOn(id: NodeId): Set<string>
  /** The quota of containers may be another one. */
  takeQuota(): void
  /** Everything anew from the cache: repairs whatever a change missed. */
  refresh(): void
}

export interface Reserved {
  readonly name: string
  readonly resources: Capacity
  readonly assignments: readonly Assignment[]
}

export type PlacementChange = 'none' | 'grown' | 'freed'

interface Counted extends Reserved {
  readonly decidedOn: number
}

type ViewStore = Pick<Store, 'get' | 'list'>

interface State {
  readonly store: ViewStore
  readonly quotas: Pick<Quotas, 'limit'>
  readonly tenant: TenantId
  readonly scheduling: SchedulingView
  readonly counted: Map<DeploymentUid, Counted>
  /** As the cache last showed them: what a change is told against. */
  readonly shown: Map<DeploymentUid, Reserved>
  readonly byNode: Map<NodeId, Map<AssignmentId, Taken>>
  readonly nodes: Map<NodeId, NodeFacts>
  used: number
}

export function createTenantView(
  store: ViewStore,
  quotas: Pick<Quotas, 'limit'>,
  tenant: TenantId,
): TenantView {
  const scheduling = createSchedulingView({ nodes: [], containers: { used: 0, limit: 0 } })
  const state: State = {
    ...{ store, quotas, tenant, scheduling, used: 0 },
    counted: new Map(),
    shown: new Map(),
    byNode: new Map(),
    nodes: new Map(),
  }
  const view: TenantView = {
    scheduling,
    reserve: (uid, placement, decidedOn) => {
      count(state, uid, { ...placement, decidedOn })
    },
    release(uid) {
      state.counted.set(uid, { ...(state.counted.get(uid) ?? EMPTY), decidedOn: UNDECIDED })
      takePlacement(state, uid)
    },
    takePlacement: (uid) => takePlacement(state, uid),
    takeNode: (id) => takeNode(state, id),
    nodeOf: (id) => state.nodes.get(id),
    dispositionOf: (id) => dispositionOf(state, id),
    leaving: () => [...state.nodes.keys()].filter((id) => dispositionOf(state, id) === 'leaving'),
    roomBeside(uid) {
      const own = state.counted.get(uid)?.assignments.length ?? 0
      return quotas.limit(tenant, 'containers') - state.used + own
    },
    deploymentsOn: (id) => new Set([...(state.byNode.get(id)?.values() ?? [])].map(({ name }) => name)),
    takeQuota: () => enterQuota(state),
    refresh: () => refresh(state),
  }
  view.refresh()
  return view
}

function dispositionOf(state: State, id: NodeId): NodeDisposition {
  const node = state.store.get(inTenant(state.tenant, nodes, id))?.record
  if (node === undefined) return 'absent'
  // What is lost cannot be emptied.
  if (node.status === 'failed') return 'failed'
  return isDraining(node) || isGivenBack(state, node) ? 'leaving' : 'staying'
}

/** Only where the claim says so: a name that cannot be read takes no new work, and moves nothing away either. */
function isGivenBack({ store, tenant }: State, { id, name }: StoredNode): boolean {
  const claims = store.get(globally(nodeNames, name))?.record.claims ?? []
  return claims.some((each) => each.tenant === tenant && each.nodeId === id && each.state === 'releasing')
}

const UNDECIDED = -1
const EMPTY: Counted = { name: '', resources: NOTHING, assignments: [], decidedOn: UNDECIDED }

function refresh(state: State): void {
  const { store, tenant } = state
  const listed = store.list(nodes, tenant).map(({ record }) => record.id)
  for (const id of new Set([...listed, ...state.nodes.keys()])) takeNode(state, id)
  const placed = store.list(placements, tenant).map(({ record }) => record.uid)
  for (const uid of new Set([...placed, ...state.counted.keys()])) takePlacement(state, uid)
  enterQuota(state)
}

function takePlacement(state: State, uid: DeploymentUid): PlacementChange {
  const { store, tenant } = state
  const found = store.get(inTenant(tenant, placements, uid))
  const record = found?.record
  const now: Reserved =
    record === undefined ? EMPTY : { ...record, resources: requestsOf(store, tenant, record) }
  const change = changeOf(state.shown.get(uid) ?? EMPTY, now)
  if (record === undefined) state.shown.delete(uid)
  else state.shown.set(uid, now)
  const { decidedOn } = state.counted.get(uid) ?? EMPTY
  // Older than what was decided here: the decision is still on its way.
  const outdated =
    decidedOn !== UNDECIDED && (found === undefined ? decidedOn === 0 : found.modRevision <= decidedOn)
  if (!outdated) count(state, uid, { ...now, decidedOn: UNDECIDED })
  return change
}

function changeOf(before: Reserved, now: Reserved): PlacementChange {
  if (before.assignments === now.assignments && sameRoom(before, now)) return 'none'
  const kept = new Set(now.assignments.map(({ id }) => id))
  const freed = before.assignments.some(({ id }) => !kept.has(id))
  if (freed || (before.assignments.length > 0 && !sameRoom(before, now))) return 'freed'
  return now.assignments.length > before.assignments.length ? 'grown' : 'none'
}

/** Replaces what was counted of the deployment. */
function count(state: State, uid: DeploymentUid, now: Counted): void {
  const before = state.counted.get(uid) ?? EMPTY
  if (now.assignments.length === 0) state.counted.delete(uid)
  else state.counted.set(uid, now)
  if (before.assignments.length === 0 && now.assignments.length === 0) return
  const room = sameRoom(before, now)
  const kept = new Set(room ? now.assignments.map(placeOf) : [])
  const known = new Set(room ? before.assignments.map(placeOf) : [])
  for (const each of before.assignments) if (!kept.has(placeOf(each))) leave(state, each.nodeId, each.id)
  for (const each of now.assignments) if (!known.has(placeOf(each))) enter(state, each.nodeId, each.id, now)
  enterQuota(state)
}

/** Decided again on the same state, an assignment has the same id, on another node perhaps. */
const placeOf = ({ id, nodeId }: Assignment): string => `${nodeId}/${id}`

function sameRoom(before: Reserved, now: Reserved): boolean {
  const { cpuMillis, memoryBytes } = now.resources
  return (
    before.name === now.name &&
    before.resources.cpuMillis === cpuMillis &&
    before.resources.memoryBytes === memoryBytes
  )
}

function enter(state: State, nodeId: NodeId, id: AssignmentId, { name, resources }: Reserved): void {
  const taken = state.byNode.get(nodeId) ?? new Map<AssignmentId, Taken>()
  state.byNode.set(nodeId, taken)
  taken.set(id, { name, resources })
  state.used += 1
  state.scheduling.applyAssigned(nodeId, name, resources)
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

/** The scheduler counts by itself while it knows all nodes; what is on a node that is gone, only we do. */
function enterQuota({ scheduling, quotas, tenant, used }: State): void {
  scheduling.setContainers({ used, limit: quotas.limit(tenant, 'containers') })
}

function takeNode(state: State, id: NodeId): RetryTrigger[] {
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
  if (before.status !== now.status) kinds.push('node_status')
  if (before.schedulable !== now.schedulable) kinds.push('node_schedulable')
  if (before.controlPlane !== now.controlPlane) kinds.push('node_role')
  if (before.claim !== now.claim) kinds.push('node_claims')
  if (!sameStand(before, now)) kinds.push('node_labels')
  const { cpuMillis, memoryBytes } = before.capacity
  if (cpuMillis !== now.capacity.cpuMillis || memoryBytes !== now.capacity.memoryBytes)
    kinds.push('node_capacity')
  return kinds
}
