// The networks of the tenant.

import type { Network } from '@holdfast/contract'
import { keys } from '../keys.ts'
import { useSession } from '../session.tsx'
import { type Pages, usePages } from './use-pages.ts'

export function useNetworks(): Pages<Network> {
  const { client, tenant } = useSession()
  return usePages(keys.records(tenant, 'networks', 'list'), client.networks.list)
}
