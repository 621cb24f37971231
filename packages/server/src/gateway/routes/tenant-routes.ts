// The routed deployments of one tenant, and for each its peers: the ready nodes that have a router and a ready replica.
// route-table.ts fills this state from the records. See docs/design/routing.md#peer-forwarding

import type { AssignmentId, DeploymentUid, NodeId, Route, RoutedDeployment } from '@holdfast/contract'
import {
  ROUTERS,
  type Router,
  type RoutersChange,
  routersSeenBy,
  type TenantRoutersView,
} from './tenant-routers.ts'

interface Routed {
  readonly uid: DeploymentUid
  readonly name: string
  routes: readonly Route[]
  /** The share of the canary in percent, 0 if its replicas receive nothing; undefined if there is no canary. */
  weight: number | undefined
  /** For each assignment with the desired state running, the node of the assignment. */
  readonly running: Map<AssignmentId, NodeId>
  /** The assignments of the canary among them. */
  marked: ReadonlySet<AssignmentId>
  /** The ready assignments by node; nodes without a ready assignment are absent. */
  readonly readyOn: Map<NodeId, Set<AssignmentId>>
}

export interface RoutesOf {
  readonly uid: DeploymentUid
  readonly routes: readonly Route[]
  readonly weight?: number | undefined
}

/** An assignment with the desired state running. */
export interface RunningReplica {
  readonly nodeId: NodeId
  readonly isCanary: boolean
}

export interface TenantRoutes {
  isRouter(nodeId: NodeId): boolean
  isRouted(uid: DeploymentUid): boolean
  /** Whether an assignment belongs to a routed deployment and has the desired state running. */
  isRunning(id: AssignmentId): boolean
  /** All routes that the node must know, sorted by deployment name. */
  routesFor(nodeId: NodeId): RoutedDeployment[]
  routeFor(nodeId: NodeId, uid: DeploymentUid): RoutedDeployment | undefined
  /** The other routers of the tenant; undefined for a node whose own router does not use mutual TLS. */
  routersFor(nodeId: NodeId, nowMs: number): TenantRoutersView | undefined
  setRouter(nodeId: NodeId, router: Router | undefined): void
  /** Sets the routes of a deployment; undefined if it has no routes. Returns true if the deployment is new. */
  setRoutes(name: string, routes: RoutesOf | undefined): boolean
  setReplicas(uid: DeploymentUid, running: ReadonlyMap<AssignmentId, RunningReplica>): void
  setReady(id: AssignmentId, ready: boolean): void
}

interface State {
  /** Called for each node with a router that must receive a deployment's routes, or the other routers, again. */
  readonly notify: (nodeId: NodeId, changed: DeploymentUid | RoutersChange) => void
  readonly routers: Map<NodeId, Router>
  readonly byUid: Map<DeploymentUid, Routed>
  readonly byName: Map<string, Routed>
  readonly byAssignment: Map<AssignmentId, Routed>
  /** For each node, the deployments with a ready replica on it. */
  readonly readyOn: Map<NodeId, Set<Routed>>
}

export function createTenantRoutes(notify: State['notify']): TenantRoutes {
  const state: State = {
    notify,
    routers: new Map(),
    byUid: new Map(),
    byName: new Map(),
    byAssignment: new Map(),
    readyOn: new Map(),
  }
  const { routers, byUid, byName, byAssignment } = state
  return {
    isRouter: (nodeId) => routers.has(nodeId),
    isRouted: (uid) => byUid.has(uid),
    isRunning: (id) => byAssignment.has(id),
    routesFor: (nodeId) =>
      [...byName.values()]
        .sort((left, right) => (left.name < right.name ? -1 : 1))
        .map((routed) => viewOf(routed, routers, nodeId)),
    routeFor(nodeId, uid) {
      const routed = byUid.get(uid)
      return routed && viewOf(routed, routers, nodeId)
    },
    routersFor: (nodeId, nowMs) => routersSeenBy(nodeId, routers, nowMs),
    setRouter: (nodeId, router) => setRouter(state, nodeId, router),
    setRoutes: (name, given) => setRoutes(state, name, given),
    setReplicas: (uid, running) => setReplicas(state, uid, running),
    setReady: (id, ready) => setReady(state, id, ready),
  }
}

function setRouter(state: State, nodeId: NodeId, router: Router | undefined): void {
  const known = state.routers.get(nodeId)
  const before = readyAddress(known)
  if (router === undefined) state.routers.delete(nodeId)
  else state.routers.set(nodeId, router)
  if (trustOf(known) !== trustOf(router))
    for (const [other, { secureAddress }] of state.routers)
      if (other !== nodeId && secureAddress !== undefined) state.notify(other, ROUTERS)
  // A new router learns all routes at the start of its session.
  if (known !== undefined && router !== undefined && known.lost !== router.lost)
    for (const { uid } of state.byUid.values()) state.notify(nodeId, uid)
  if (before === readyAddress(router)) return
  for (const routed of state.readyOn.get(nodeId) ?? []) notifyRouters(state, routed, nodeId)
}

function setRoutes(state: State, name: string, given: RoutesOf | undefined): boolean {
  const before = state.byName.get(name)
  const known = before?.uid === given?.uid ? before : undefined
  if (before !== undefined && known === undefined) removeRouted(state, before)
  if (given === undefined || (known !== undefined && isSame(known, given))) return false
  const { uid, routes, weight } = given
  const routed = known ?? {
    ...{ uid, name, routes, weight },
    ...{ running: new Map(), readyOn: new Map(), marked: new Set() },
  }
  routed.routes = routes
  routed.weight = weight
  state.byUid.set(given.uid, routed)
  state.byName.set(name, routed)
  notifyRouters(state, routed)
  return known === undefined
}

function setReplicas(
  state: State,
  uid: DeploymentUid,
  running: ReadonlyMap<AssignmentId, RunningReplica>,
): void {
  const routed = state.byUid.get(uid)
  if (routed === undefined) return
  const before = canaryOf(routed)
  for (const id of [...routed.running.keys()]) if (!running.has(id)) removeReplica(state, routed, id)
  for (const [id, { nodeId }] of running) {
    routed.running.set(id, nodeId)
    state.byAssignment.set(id, routed)
  }
  routed.marked = new Set([...running].filter(([, { isCanary }]) => isCanary).map(([id]) => id))
  // Every router, also that of the replica's own node, must know which replicas share the weight.
  if (before !== canaryOf(routed)) notifyRouters(state, routed)
}

/** The replicas of the canary as text; empty if there is none. */
const canaryOf = ({ marked }: Routed): string => [...marked].sort().join(' ')

/** Sets a replica's readiness and notifies the other nodes whose peers change; the replica's own node knows already. */
function setReady(state: State, id: AssignmentId, ready: boolean): void {
  const routed = state.byAssignment.get(id)
  const nodeId = routed?.running.get(id)
  if (routed === undefined || nodeId === undefined) return
  const [before, pools] = [routed.readyOn.has(nodeId), poolsOn(routed, nodeId)]
  if (ready) addTo(routed.readyOn, nodeId, id)
  else removeFrom(routed.readyOn, nodeId, id)
  if (pools === poolsOn(routed, nodeId)) return
  if (before && !routed.readyOn.has(nodeId)) removeFrom(state.readyOn, nodeId, routed)
  else addTo(state.readyOn, nodeId, routed)
  if (state.routers.get(nodeId)?.ready) notifyRouters(state, routed, nodeId)
}

/** Which pools have a ready replica on the node, as text. */
function poolsOn({ readyOn, marked }: Routed, nodeId: NodeId): string {
  const ready = readyOn.get(nodeId)
  if (ready === undefined) return ''
  return marked.size === 0 ? 'stable' : [...new Set([...ready].map((id) => marked.has(id)))].sort().join(' ')
}

function removeReplica(state: State, routed: Routed, id: AssignmentId): void {
  setReady(state, id, false)
  routed.running.delete(id)
  state.byAssignment.delete(id)
}

function removeRouted(state: State, routed: Routed): void {
  for (const id of [...routed.running.keys()]) removeReplica(state, routed, id)
  state.byUid.delete(routed.uid)
  state.byName.delete(routed.name)
  notifyRouters(state, routed)
}

function notifyRouters({ routers, notify }: State, { uid }: Routed, except?: NodeId): void {
  for (const nodeId of routers.keys()) if (nodeId !== except) notify(nodeId, uid)
}

/** The facts about a router that the other routers must know, as text. */
const trustOf = (router: Router | undefined): string =>
  JSON.stringify(
    router && [router.address, router.secureAddress, router.certificates, router.plainUntilMs],
  ) ?? ''

/** The address to which requests for the node may be forwarded; undefined while the node is not ready. */
const readyAddress = (router: Router | undefined): string | undefined =>
  router?.ready ? router.address : undefined

/**
 * The routes of a deployment as one node receives them. Peers are sorted, so that equal sets compare equal. Without a
 * canary, replicas that still have its mark are ordinary ones: the canary was promoted.
 */
function viewOf(routed: Routed, routers: ReadonlyMap<NodeId, Router>, own: NodeId): RoutedDeployment {
  const { uid, name, routes, weight, marked } = routed
  const lost = routers.get(own)?.lost === true ? { lost: true } : {}
  const base = { deployment: uid, name, routes: [...routes], ...lost }
  if (weight === undefined || (weight === 0 && marked.size === 0))
    return { ...base, peers: peersOf(routed, routers, own, () => true) }
  return {
    ...base,
    peers: peersOf(routed, routers, own, (id) => !marked.has(id)),
    canary: {
      weight,
      replicas: [...marked].sort(),
      peers: peersOf(routed, routers, own, (id) => marked.has(id)),
    },
  }
}

/** The addresses of the other nodes with a ready replica of the kind. */
function peersOf(
  { readyOn }: Routed,
  routers: ReadonlyMap<NodeId, Router>,
  own: NodeId,
  isOfKind: (id: AssignmentId) => boolean,
): string[] {
  const addresses = [...readyOn]
    .filter(([, ready]) => [...ready].some(isOfKind))
    .flatMap(([nodeId]) => readyAddress(routers.get(nodeId)) ?? [])
    .filter((address) => address !== routers.get(own)?.address)
  return [...new Set(addresses)].sort()
}

function isSame(left: Pick<Routed, 'routes' | 'weight'>, right: RoutesOf): boolean {
  const texts = (routes: readonly Route[]) => routes.map(({ host, path, port }) => `${host} ${path} ${port}`)
  return left.weight === right.weight && texts(left.routes).join('\n') === texts(right.routes).join('\n')
}

function addTo<K, V>(sets: Map<K, Set<V>>, key: K, value: V): void {
  const set = sets.get(key) ?? new Set<V>()
  sets.set(key, set.add(value))
}

function removeFrom<K, V>(sets: Map<K, Set<V>>, key: K, value: V): void {
  const set = sets.get(key)
  set?.delete(value)
  if (set?.size === 0) sets.delete(key)
}
