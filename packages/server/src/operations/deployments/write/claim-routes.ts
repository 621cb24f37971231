// Claims a host and path for one deployment of the tenant (docs/design/routing.md#claims). Each has one key, so two concurrent
// writes cannot both own it. A claim changes only in the transaction that changes the route in the deployment's record, so
// comparing that record covers its claims.

import { hash } from 'node:crypto'
import type { DeploymentSpec, Route, TenantId } from '@holdfast/contract'
import { routeIdentity } from '@holdfast/core'
import { routeClaims, type StoredDeployment } from '../../../store/records.ts'
import { inTenant, type Transaction } from '../../../store/transaction.ts'

type Routed = Pick<StoredDeployment, 'uid' | 'spec'>

/**
 * Names of the other deployments that own a route which is new to this one, by index in its list. Each claim read is
 * compared at commit, so only one of several concurrent writes gets it.
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
 * Claims the routes that are new to the deployment and releases those it no longer has; at most 16 of each. Throws if
 * another deployment owns one: admission must have rejected that.
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

/** Called in the transaction that deletes the record: until then traffic may be routed to the deployment. */
export function releaseRoutes(transaction: Transaction, tenant: TenantId, { spec }: Routed): void {
  for (const route of spec.routes ?? []) transaction.delete(claimOf(tenant, route))
}

/** Hashed, because a host and path may be too long for a key and may contain its separator. */
function claimOf(tenant: TenantId, route: Pick<Route, 'host' | 'path'>) {
  return inTenant(tenant, routeClaims, hash('sha256', routeIdentity(route), 'hex'))
}

function identitiesOf(routed: Routed | undefined): ReadonlySet<string> {
  return new Set((routed?.spec.routes ?? []).map(routeIdentity))
}
