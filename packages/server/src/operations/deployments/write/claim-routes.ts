// Whose is a host and path? One key for each in the tenant, so that two deployments cannot both have it, however many are
// written at once (DECISIONS 4, SAFETY 4a). A claim is written and taken away in the transaction that does the same to the
// route in the deployment's record: who compares the record, as each of these transactions does, compares its claims.

import { hash } from 'node:crypto'
import type { DeploymentSpec, Route, TenantId } from '@holdfast/contract'
import { routeIdentity } from '@holdfast/core'
import { routeClaims, type StoredDeployment } from '../../../store/records.ts'
import { inTenant, type Transaction } from '../../../store/transaction.ts'

type Routed = Pick<StoredDeployment, 'uid' | 'spec'>

/**
 * Of the routes that the deployment does not have yet, those that another one has: its name, by the place in the list.
 * Each claim that is asked for is compared at commit, so that of several who ask one gets it.
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
 * Takes the routes that are new to the deployment and frees those that it no longer has; at most 16 of each (DECISIONS 6).
 * Throws where one is another deployment's: that was to be refused before.
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
    if (transaction.get(address) !== undefined) throw new TypeError('a route is taken from its deployment')
    const { host, path } = route
    transaction.put(address, { v: 1, host, path, deployment: uid, name: spec.name })
  }
}

/** With the record of the deployment, and not before: until then it may be led to. */
export function releaseRoutes(transaction: Transaction, tenant: TenantId, { spec }: Routed): void {
  for (const route of spec.routes ?? []) transaction.delete(claimOf(tenant, route))
}

/** A host and path may be longer than a key should be, and hold characters that end one. */
function claimOf(tenant: TenantId, route: Pick<Route, 'host' | 'path'>) {
  return inTenant(tenant, routeClaims, hash('sha256', routeIdentity(route), 'hex'))
}

function identitiesOf(routed: Routed | undefined): ReadonlySet<string> {
  return new Set((routed?.spec.routes ?? []).map(routeIdentity))
}
