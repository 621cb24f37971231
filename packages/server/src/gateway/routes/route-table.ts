// The routed deployments of each tenant, and for each deployment the nodes with a ready replica, as sent to the tenant's
// nodes. Updated with each change of a record; an unreadable record leaves the table unchanged. See
// docs/design/routing.md#routes

import {
  type AssignmentId,
  asAssignmentId,
  asNodeId,
  asOwner,
  type DeploymentUid,
  defined,
  deploymentUidOf,
  ownerOf,
  type RoutedDeployment,
  type TenantId,
  type TenantRouters,
} from '@holdfast/contract'
import { hasFailedEngine, isActiveCanary, isReady } from '@holdfast/core'
import type { Change } from '../../store/cache/record-index.ts'
import {
  deployments,
  nodes,
  observations,
  placements,
  type StoredDeployment,
  type StoredNode,
  type StoredPlacement,
  tenants,
} from '../../store/records.ts'
import { inTenant, placementAt } from '../../store/transaction.ts'
import type { GatewayDeps, NodeAddress } from '../deps.ts'
import { createUnreadable, type Unreadable } from '../desired/unreadable.ts'
import { isSecure } from '../session/secure-router.ts'
import type { Router, RoutersChange } from './tenant-routers.ts'
import { createTenantRoutes, type RoutesOf, type RunningReplica, type TenantRoutes } from './tenant-routes.ts'

/** Called for each node that must receive a deployment's routes, or the other routers, again, because they changed. */
export type OnRouteChange = (node: NodeAddress, changed: DeploymentUid | RoutersChange) => void

export interface RouteTable {
  /** Whether the node advertised the address of its router. Only such nodes receive routes. */
  isRouter(node: NodeAddress): boolean
  /** All routed deployments of the node's tenant, each with the peers to which this node may forward requests. */
  routesFor(node: NodeAddress): RoutedDeployment[]
  /** One deployment's routes: null if the deployment is not routed; undefined if its placement cannot be read. */
  routeFor(node: NodeAddress, deployment: DeploymentUid): RoutedDeployment | null | undefined
  /** False while a record of the tenant cannot be read, because `routesFor` may then lack a deployment. */
  isComplete(tenant: TenantId): boolean
  /**
   * The other routers of the node's tenant; undefined if the node's router does not use mutual TLS. Empty while a node of
   * the tenant cannot be read, so that no router is distrusted for that.
   */
  routersFor(node: NodeAddress, nowMs: number): TenantRouters | undefined
  apply(changes: readonly Change[], onChange: OnRouteChange): void
}

type TableStore = Pick<GatewayDeps['store'], 'list' | 'keysOf' | 'get'>

/** `unplaced` is the set of unreadable placements; the caller must update `unplaced` before each `apply`. */
export function createRouteTable(
  store: TableStore,
  unplaced: Pick<Unreadable, 'has' | 'isComplete'>,
): RouteTable {
  const byTenant = new Map<TenantId, TenantRoutes>()
  const unreadable = createUnreadable()
  const unreadableNodes = createUnreadable()
  let notify: OnRouteChange = () => {}
  const routesOf = (tenant: TenantId): TenantRoutes => {
    const known = byTenant.get(tenant)
    if (known !== undefined) return known
    const created = createTenantRoutes((nodeId, changed) => notify({ tenant, nodeId }, changed))
    byTenant.set(tenant, created)
    return created
  }
  const updates = createUpdates(
    store,
    { unreadable, unreadableNodes },
    (tenant) => byTenant.get(tenant),
    routesOf,
  )
  const isReadable = (tenant: TenantId, uid: DeploymentUid): boolean =>
    !unplaced.has(tenant, ownerOf('deployment', uid))

  for (const { record } of store.list(tenants))
    for (const collection of [nodes, deployments])
      for (const { id } of store.keysOf(collection, record.id))
        updates.get(collection.folder)?.(record.id, id, false)
  return {
    isRouter: ({ tenant, nodeId }) => byTenant.get(tenant)?.isRouter(nodeId) ?? false,
    routesFor: ({ tenant, nodeId }) =>
      (byTenant.get(tenant)?.routesFor(nodeId) ?? []).filter(({ deployment }) =>
        isReadable(tenant, deployment),
      ),
    routeFor: ({ tenant, nodeId }, uid) =>
      isReadable(tenant, uid) ? (byTenant.get(tenant)?.routeFor(nodeId, uid) ?? null) : undefined,
    routersFor({ tenant, nodeId }, nowMs) {
      const routers = byTenant.get(tenant)?.routersFor(nodeId, nowMs)
      return routers === undefined || unreadableNodes.isComplete(tenant) ? routers : {}
    },
    isComplete: (tenant) => unreadable.isComplete(tenant) && unplaced.isComplete(tenant),
    apply(changes, onChange) {
      notify = onChange
      for (const { kind, key } of changes)
        if (key.tenant !== undefined) updates.get(key.folder)?.(key.tenant, key.id, kind === 'delete')
    },
  }
}

/** Updates the table after a record was put or deleted. */
type Update = (tenant: TenantId, id: string, gone: boolean) => void

/** One update function per record collection. `known` returns undefined for a tenant without routers and routes. */
function createUpdates(
  store: Pick<TableStore, 'get'>,
  { unreadable, unreadableNodes }: { unreadable: Unreadable; unreadableNodes: Unreadable },
  known: (tenant: TenantId) => TenantRoutes | undefined,
  make: (tenant: TenantId) => TenantRoutes,
): ReadonlyMap<string, Update> {
  const isServing = (tenant: TenantId, id: string): boolean =>
    isReady(store.get(inTenant(tenant, observations, id))?.record)
  const updateReplicas = (
    tenant: TenantId,
    routes: TenantRoutes,
    placement: StoredPlacement | undefined,
    uid: DeploymentUid,
  ) => {
    const running = runningOf(placement)
    routes.setReplicas(uid, running)
    for (const id of running.keys()) routes.setReady(id, isServing(tenant, id))
  }
  const updateNode: Update = (tenant, id, gone) => {
    const node = gone ? undefined : store.get(inTenant(tenant, nodes, id))?.record
    unreadableNodes.note(tenant, id, gone || node !== undefined)
    if (!gone && node === undefined) return
    const router = routerOf(node)
    const routes = router === undefined ? known(tenant) : make(tenant)
    routes?.setRouter(asNodeId(id), router)
  }
  const updateDeployment: Update = (tenant, name, gone) => {
    const stored = gone ? undefined : store.get(inTenant(tenant, deployments, name))?.record
    unreadable.note(tenant, name, gone || stored !== undefined)
    if (!gone && stored === undefined) return
    const routed = routedDeployment(stored)
    const routes = routed === undefined ? known(tenant) : make(tenant)
    if (routes?.setRoutes(name, routed) !== true || routed === undefined) return
    const placement = store.get(placementAt(tenant, ownerOf('deployment', routed.uid)))?.record
    updateReplicas(tenant, routes, placement, routed.uid)
  }
  const updatePlacement: Update = (tenant, id, gone) => {
    const routes = known(tenant)
    const owner = asOwner(id)
    const uid = deploymentUidOf(owner)
    if (routes === undefined || uid === undefined || !routes.isRouted(uid)) return
    const placement = gone ? undefined : store.get(placementAt(tenant, owner))?.record
    if (gone || placement !== undefined) updateReplicas(tenant, routes, placement, uid)
  }
  const updateObservation: Update = (tenant, id) => {
    const routes = known(tenant)
    const assignment = asAssignmentId(id)
    if (routes?.isRunning(assignment)) routes.setReady(assignment, isServing(tenant, id))
  }
  return new Map([
    [nodes.folder, updateNode],
    [deployments.folder, updateDeployment],
    [placements.folder, updatePlacement],
    [observations.folder, updateObservation],
  ])
}

function routerOf(node: StoredNode | undefined): Router | undefined {
  if (node?.peerAddress === undefined) return undefined
  const { peerAddress: address, secureRouter, generation } = node
  const { plainUntil, ...known } =
    secureRouter?.generation === generation ? secureRouter : { certificates: [] }
  const secureAddress = isSecure(node) ? secureRouter?.address : undefined
  const plainUntilMs = plainUntil === undefined ? undefined : Date.parse(plainUntil)
  // The containers of a node whose engine has failed are unknown, so other nodes forward nothing to them.
  const lost = hasFailedEngine(node)
  const ready = node.status === 'ready' && !lost
  return {
    address,
    ready,
    lost,
    certificates: known.certificates,
    ...defined({ secureAddress, plainUntilMs }),
  }
}

/** The routes of a deployment; undefined during its deletion, when it still owns the routes but is not reachable. */
function routedDeployment(stored: StoredDeployment | undefined): RoutesOf | undefined {
  if (stored === undefined || stored.deleting) return undefined
  const { uid, spec, canary } = stored
  if ((spec.routes ?? []).length === 0) return undefined
  const weight = canary && (isActiveCanary(canary) ? canary.weight : 0)
  return { uid, routes: spec.routes ?? [], weight }
}

/** The running assignments. Assignments to be stopped or removed get no new requests, even while they could serve. */
function runningOf(placement: StoredPlacement | undefined): ReadonlyMap<AssignmentId, RunningReplica> {
  const running = (placement?.assignments ?? []).filter(({ desired }) => desired === 'running')
  return new Map(running.map(({ id, nodeId, canary = false }) => [id, { nodeId, isCanary: canary }]))
}
