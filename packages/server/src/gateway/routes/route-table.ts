// The routed deployments of each tenant and the nodes with a ready replica of each, as its nodes receive them. Updated
// change by change; an unreadable record leaves the table as it is. See docs/design/routing.md#routes

import {
  type AssignmentId,
  asAssignmentId,
  asDeploymentUid,
  asNodeId,
  type DeploymentUid,
  type NodeId,
  type RoutedDeployment,
  type TenantId,
} from '@holdfast/contract'
import { isReady } from '@holdfast/core'
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
import { inTenant } from '../../store/transaction.ts'
import type { GatewayDeps, NodeAddress } from '../deps.ts'
import { createUnreadable, type Unreadable } from '../desired/unreadable.ts'
import { createTenantRoutes, type Router, type RoutesOf, type TenantRoutes } from './tenant-routes.ts'

/** Told of each node that is to hear something else of a deployment than before. */
export type OnRouteChange = (node: NodeAddress, deployment: DeploymentUid) => void

export interface RouteTable {
  /** A node that did not say where its router is reached is told of no routes. */
  isRouter(node: NodeAddress): boolean
  /** The routed deployments of the tenant, as the node is to know them. */
  routesFor(node: NodeAddress): RoutedDeployment[]
  /** Null where the deployment is not routed; undefined where nothing can be said of it. */
  routeFor(node: NodeAddress, deployment: DeploymentUid): RoutedDeployment | null | undefined
  /** Whether `routesFor` is all there is. */
  isWhole(tenant: TenantId): boolean
  apply(changes: readonly Change[], onChange: OnRouteChange): void
}

type TableStore = Pick<GatewayDeps['store'], 'list' | 'keysOf' | 'get'>

/** `unplaced` knows the placements that cannot be read, before the table is told of the change that made them so. */
export function createRouteTable(
  store: TableStore,
  unplaced: Pick<Unreadable, 'has' | 'isWhole'>,
): RouteTable {
  const byTenant = new Map<TenantId, TenantRoutes>()
  const unreadable = createUnreadable()
  let tell: OnRouteChange = () => {}
  const routesOf = (tenant: TenantId): TenantRoutes => {
    const known = byTenant.get(tenant)
    if (known !== undefined) return known
    const made = createTenantRoutes((nodeId, uid) => tell({ tenant, nodeId }, uid))
    byTenant.set(tenant, made)
    return made
  }
  const takers = createTakers(store, unreadable, (tenant) => byTenant.get(tenant), routesOf)
  const canSay = (tenant: TenantId, uid: DeploymentUid): boolean => !unplaced.has(tenant, uid)

  for (const { record } of store.list(tenants))
    for (const collection of [nodes, deployments])
      for (const { id } of store.keysOf(collection, record.id))
        takers.get(collection.folder)?.(record.id, id, false)
  return {
    isRouter: ({ tenant, nodeId }) => byTenant.get(tenant)?.isRouter(nodeId) ?? false,
    routesFor: ({ tenant, nodeId }) =>
      (byTenant.get(tenant)?.routesFor(nodeId) ?? []).filter(({ deployment }) => canSay(tenant, deployment)),
    routeFor: ({ tenant, nodeId }, uid) =>
      canSay(tenant, uid) ? (byTenant.get(tenant)?.routeFor(nodeId, uid) ?? null) : undefined,
    isWhole: (tenant) => unreadable.isWhole(tenant) && unplaced.isWhole(tenant),
    apply(changes, onChange) {
      tell = onChange
      for (const { kind, key } of changes)
        if (key.tenant !== undefined) takers.get(key.folder)?.(key.tenant, key.id, kind === 'delete')
    },
  }
}

/** Takes in that a record was put or deleted. */
type Taker = (tenant: TenantId, id: string, gone: boolean) => void

/** `known` is undefined for a tenant of which nothing was worth keeping yet. */
function createTakers(
  store: Pick<TableStore, 'get'>,
  unreadable: Unreadable,
  known: (tenant: TenantId) => TenantRoutes | undefined,
  make: (tenant: TenantId) => TenantRoutes,
): ReadonlyMap<string, Taker> {
  const isServing = (tenant: TenantId, id: string): boolean =>
    isReady(store.get(inTenant(tenant, observations, id))?.record)
  const takeReplicas = (
    tenant: TenantId,
    routes: TenantRoutes,
    placement: StoredPlacement | undefined,
    uid: DeploymentUid,
  ) => {
    const wished = runningOf(placement)
    routes.setReplicas(uid, wished)
    for (const id of wished.keys()) routes.setReady(id, isServing(tenant, id))
  }
  const takeNode: Taker = (tenant, id, gone) => {
    const node = gone ? undefined : store.get(inTenant(tenant, nodes, id))?.record
    if (!gone && node === undefined) return
    const router = routerOf(node)
    const routes = router === undefined ? known(tenant) : make(tenant)
    routes?.setRouter(asNodeId(id), router)
  }
  const takeDeployment: Taker = (tenant, name, gone) => {
    const stored = gone ? undefined : store.get(inTenant(tenant, deployments, name))?.record
    unreadable.note(tenant, name, gone || stored !== undefined)
    if (!gone && stored === undefined) return
    const routed = routedIn(stored)
    const routes = routed === undefined ? known(tenant) : make(tenant)
    if (routes?.setRoutes(name, routed) !== true || routed === undefined) return
    takeReplicas(tenant, routes, store.get(inTenant(tenant, placements, routed.uid))?.record, routed.uid)
  }
  const takePlacement: Taker = (tenant, id, gone) => {
    const routes = known(tenant)
    const uid = asDeploymentUid(id)
    if (routes === undefined || !routes.isRouted(uid)) return
    const placement = gone ? undefined : store.get(inTenant(tenant, placements, id))?.record
    if (gone || placement !== undefined) takeReplicas(tenant, routes, placement, uid)
  }
  const takeObservation: Taker = (tenant, id) => {
    const routes = known(tenant)
    const assignment = asAssignmentId(id)
    if (routes?.isWished(assignment)) routes.setReady(assignment, isServing(tenant, id))
  }
  return new Map([
    [nodes.folder, takeNode],
    [deployments.folder, takeDeployment],
    [placements.folder, takePlacement],
    [observations.folder, takeObservation],
  ])
}

function routerOf(node: StoredNode | undefined): Router | undefined {
  if (node?.peerAddress === undefined) return undefined
  return { address: node.peerAddress, ready: node.status === 'ready' }
}

/** What is being deleted is not to be reached any more, though its routes are still its own. */
function routedIn(stored: StoredDeployment | undefined): RoutesOf | undefined {
  if (stored === undefined || stored.deleting) return undefined
  const { uid, spec } = stored
  return (spec.routes ?? []).length === 0 ? undefined : { uid, routes: spec.routes ?? [] }
}

/** Those that are to be stopped or removed take nothing new, whatever they are still able to. */
function runningOf(placement: StoredPlacement | undefined): ReadonlyMap<AssignmentId, NodeId> {
  const running = (placement?.assignments ?? []).filter(({ desired }) => desired === 'running')
  return new Map(running.map(({ id, nodeId }) => [id, nodeId]))
}
