// Which data is where: each deployment's demand, and the places of its replicas and copies.

import { readAll } from '@holdfast/client'
import type { ResidencyEntry } from '@holdfast/contract'
import { requireValue } from '../failure.ts'
import { keys } from '../keys.ts'
import { useSession } from '../session.tsx'
import { type Pages, usePages } from './use-pages.ts'

export function useResidency(): Pages<ResidencyEntry> {
  const { client, tenant } = useSession()
  return usePages(keys.records(tenant, 'residency'), client.tenants.residency)
}

/** Reads the whole report, also the pages that the list has not shown yet. */
export function useWholeResidency(): () => Promise<readonly ResidencyEntry[]> {
  const { client } = useSession()
  return async () => requireValue(await readAll(client.tenants.residency))
}
