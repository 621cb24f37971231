// Reads networks. Another tenant's network and a missing one get the same answer.

import { isNetworkId, type Network, type TenantId } from '@holdfast/contract'
import { reject } from '@holdfast/core'
import { networks } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { inTenant } from '../../store/transaction.ts'
import { done, type Outcome, type Refused, refusedBy } from '../caller.ts'
import { listPage, mapPage, type Page, type PageRequest } from '../page.ts'
import { networkView } from './network-view.ts'

/** The path names the network, so the code has its second status. */
export const networkNotFound = (id: string): Refused =>
  refusedBy({ rejections: [reject('network_not_found', 'id', id)], alternative: true })

export async function getNetwork(store: Store, tenant: TenantId, id: string): Promise<Outcome<Network>> {
  await store.fresh()
  const found = isNetworkId(id) ? store.get(inTenant(tenant, networks, id)) : undefined
  return found === undefined ? networkNotFound(id) : done(networkView(store, tenant, found.record))
}

export async function listNetworks(
  store: Store,
  tenant: TenantId,
  request: PageRequest,
): Promise<Outcome<Page<Network>>> {
  const stored = () => store.list(networks, tenant).map(({ record }) => record)
  const page = await listPage(store, request, stored, ({ options }) => options.name)
  return mapPage(page, (network) => networkView(store, tenant, network))
}
