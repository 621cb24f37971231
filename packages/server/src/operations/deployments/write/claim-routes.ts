// Claims a host and path for one deployment of the tenant (docs/design/routing.md#claims). Each host and path has one
// key, so two concurrent writes cannot both own it. A claim changes only in the transaction that changes the deployment's
// record, so a comparison of that record at commit also covers its claims.

import { hash } from 'node:crypto'
import type { DeploymentSpec, Route, TenantId } from '@holdfast/contract'
import { routeIdentity } from '@holdfast/core'
import { routeClaims, type StoredDeployment } from '../../../store/records.ts'
import { inTenant, type Transaction } from '../../../store/transaction.ts'

type Routed = Pick<StoredDeployment, 'uid' | 'spec'>

/**
 * Finds, for each new route of a deployment, the name of another deployment that owns the route. The key is the index of
 * the route in the list. Claims are compared at commit, so only one of several concurrent writes gets a route.
 */
export function gatherRouteHolders(
  transaction: Transaction,
  tenant: TenantId,
  spec: DeploymentSpec,
  before: Routed | undefined,
): ReadonlyMap<number, string> {
  const own = identitiesOf(before)
  const holders = new Map<number, string>()
  for (const [index, route] of (spec.routes ?? []).entries()) {
    const holder = own.has(routeIdentity(route)) ? undefined : transaction.get(claimOf(tenant, route))
    if (holder !== undefined) holders.set(index, holder.name)
  }
  return holders
}

/**
 * Claims the new routes of a deployment and releases the routes it no longer has; at most 16 of each. Throws if another
 * deployment owns a route, because admission must have rejected the write.
 */
export function claimRoutes(
  transaction: Transaction,
  tenant: TenantId,
  before: Routed | undefined,
  { uid, spec }: Routed,
): void {
  const [had, has] = [identitiesOf(before), identitiesOf({ uid, spec })]
  for (const route of before?.spec.routes ?? [])
    if (!has.has(routeIdentity(route))) transaction.delete(claimOf(tenant, route))
  for (const route of spec.routes ?? []) {
    if (had.has(routeIdentity(route))) continue
    const address = claimOf(tenant, route)
    if (transaction.get(address) !== undefined)
      throw new TypeError('a route of another deployment would be claimed')
    const { host, path } = route
    transaction.put(address, { v: 1, host, path, deployment: uid, name: spec.name })
  }
}

/**
 * Releases all routes of a deployment. Called when the record is deleted, because until then traffic may be routed to it.
 */
export function releaseRoutes(transaction: Transaction, tenant: TenantId, { spec }: Routed): void {
  for (const route of spec.routes ?? []) transaction.delete(claimOf(tenant, route))
}

/** The key of a route claim is a hash: a host and path may be too long for a key or contain the key separator. */
function claimOf(tenant: TenantId, route: Pick<Route, 'host' | 'path'>) {
  return inTenant(tenant, routeClaims, hash('sha256', routeIdentity(route), 'hex'))
}

function identitiesOf(routed: Routed | undefined): ReadonlySet<string> {
  return new Set((routed?.spec.routes ?? []).map(routeIdentity))
}
