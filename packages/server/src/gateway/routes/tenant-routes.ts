// The routed deployments of one tenant, and which of its nodes can take what is forwarded to them: those that route, are
// ready, and have a ready replica. Plain bookkeeping; route-table.ts tells it what records say.

import type { AssignmentId, DeploymentUid, NodeId, Route, RoutedDeployment } from '@holdfast/contract'

/** A node that routes: it said where its router takes what others forward. */
export interface Router {
  readonly address: string
  readonly ready: boolean
}

interface Routed {
  readonly uid: DeploymentUid
  readonly name: string
  routes: readonly Route[]
  /** The assignments that are to run, and where. */
  readonly wished: Map<AssignmentId, NodeId>
  /** Those of them that are ready; no node without one. */
  readonly readyOn: Map<NodeId, Set<AssignmentId>>
}

export interface RoutesOf {
  readonly uid: DeploymentUid
  readonly routes: readonly Route[]
}

export interface TenantRoutes {
  isRouter(nodeId: NodeId): boolean
  isRouted(uid: DeploymentUid): boolean
  /** Whether it is an assignment of a routed deployment that is to run. */
  isWished(id: AssignmentId): boolean
  /** In the order of their names. */
  routesFor(nodeId: NodeId): RoutedDeployment[]
  routeFor(nodeId: NodeId, uid: DeploymentUid): RoutedDeployment | undefined
  setRouter(nodeId: NodeId, router: Router | undefined): void
  /** Undefined where the deployment of that name is not routed. True where it is new: then its replicas are to be said. */
  setRoutes(name: string, routes: RoutesOf | undefined): boolean
  setReplicas(uid: DeploymentUid, wished: ReadonlyMap<AssignmentId, NodeId>): void
  setReady(id: AssignmentId, ready: boolean): void
}

interface State {
  /** Hears of each node that routes and is to know something else of a deployment than before. */
  readonly tell: (nodeId: NodeId, uid: DeploymentUid) => void
  readonly routers: Map<NodeId, Router>
  readonly byUid: Map<DeploymentUid, Routed>
  readonly byName: Map<string, Routed>
  readonly byAssignment: Map<AssignmentId, Routed>
  /** What has a ready replica on the node. */
  readonly readyOn: Map<NodeId, Set<Routed>>
}

export function createTenantRoutes(tell: State['tell']): TenantRoutes {
  const state: State = {
    tell,
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
    isWished: (id) => byAssignment.has(id),
    routesFor: (nodeId) =>
      [...byName.values()]
        .sort((left, right) => (left.name < right.name ? -1 : 1))
        .map((routed) => viewOf(routed, routers, nodeId)),
    routeFor(nodeId, uid) {
      const routed = byUid.get(uid)
      return routed && viewOf(routed, routers, nodeId)
    },
    setRouter: (nodeId, router) => setRouter(state, nodeId, router),
    setRoutes: (name, given) => setRoutes(state, name, given),
    setReplicas: (uid, wished) => setReplicas(state, uid, wished),
    setReady: (id, ready) => setReady(state, id, ready),
  }
}

function setRouter(state: State, nodeId: NodeId, router: Router | undefined): void {
  const before = openAddress(state.routers.get(nodeId))
  if (router === undefined) state.routers.delete(nodeId)
  else state.routers.set(nodeId, router)
  if (before === openAddress(router)) return
  for (const routed of state.readyOn.get(nodeId) ?? []) tellAll(state, routed, nodeId)
}

function setRoutes(state: State, name: string, given: RoutesOf | undefined): boolean {
  const before = state.byName.get(name)
  const known = before?.uid === given?.uid ? before : undefined
  if (before !== undefined && known === undefined) forget(state, before)
  if (given === undefined || (known !== undefined && sameRoutes(known.routes, given.routes))) return false
  const routed = known ?? { ...given, name, wished: new Map(), readyOn: new Map() }
  routed.routes = given.routes
  state.byUid.set(given.uid, routed)
  state.byName.set(name, routed)
  tellAll(state, routed)
  return known === undefined
}

function setReplicas(state: State, uid: DeploymentUid, wished: ReadonlyMap<AssignmentId, NodeId>): void {
  const routed = state.byUid.get(uid)
  if (routed === undefined) return
  for (const id of [...routed.wished.keys()]) if (!wished.has(id)) drop(state, routed, id)
  for (const [id, nodeId] of wished) {
    routed.wished.set(id, nodeId)
    state.byAssignment.set(id, routed)
  }
}

/** Who has the replica knows it by itself, so the others are told, and only when their peers are others. */
function setReady(state: State, id: AssignmentId, ready: boolean): void {
  const routed = state.byAssignment.get(id)
  const nodeId = routed?.wished.get(id)
  if (routed === undefined || nodeId === undefined) return
  const before = routed.readyOn.has(nodeId)
  if (ready) addTo(routed.readyOn, nodeId, id)
  else takeFrom(routed.readyOn, nodeId, id)
  if (before === routed.readyOn.has(nodeId)) return
  if (before) takeFrom(state.readyOn, nodeId, routed)
  else addTo(state.readyOn, nodeId, routed)
  if (state.routers.get(nodeId)?.ready) tellAll(state, routed, nodeId)
}

function drop(state: State, routed: Routed, id: AssignmentId): void {
  setReady(state, id, false)
  routed.wished.delete(id)
  state.byAssignment.delete(id)
}

function forget(state: State, routed: Routed): void {
  for (const id of [...routed.wished.keys()]) drop(state, routed, id)
  state.byUid.delete(routed.uid)
  state.byName.delete(routed.name)
  tellAll(state, routed)
}

function tellAll({ routers, tell }: State, { uid }: Routed, but?: NodeId): void {
  for (const nodeId of routers.keys()) if (nodeId !== but) tell(nodeId, uid)
}

/** Where a node takes what is forwarded, while it does. */
const openAddress = (router: Router | undefined): string | undefined =>
  router?.ready ? router.address : undefined

/** In one order, so that the same peers are the same text; a node never forwards to itself. */
function viewOf(
  { uid, name, routes, readyOn }: Routed,
  routers: ReadonlyMap<NodeId, Router>,
  own: NodeId,
): RoutedDeployment {
  const addresses = [...readyOn.keys()]
    .flatMap((nodeId) => openAddress(routers.get(nodeId)) ?? [])
    .filter((address) => address !== routers.get(own)?.address)
  return { deployment: uid, name, routes: [...routes], peers: [...new Set(addresses)].sort() }
}

function sameRoutes(left: readonly Route[], right: readonly Route[]): boolean {
  const texts = (routes: readonly Route[]) => routes.map(({ host, path, port }) => `${host} ${path} ${port}`)
  return texts(left).join('\n') === texts(right).join('\n')
}

function addTo<K, V>(sets: Map<K, Set<V>>, key: K, value: V): void {
  const set = sets.get(key) ?? new Set<V>()
  sets.set(key, set.add(value))
}

function takeFrom<K, V>(sets: Map<K, Set<V>>, key: K, value: V): void {
  const set = sets.get(key)
  set?.delete(value)
  if (set?.size === 0) sets.delete(key)
}
