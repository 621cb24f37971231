// Backups: the list, and one backup with its content.

import type { Backup, BackupRecord } from '@holdfast/contract'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { requireValue } from '../failure.ts'
import { keys } from '../keys.ts'
import { useSession } from '../session.tsx'
import { type Pages, usePages } from './use-pages.ts'

export function useBackups(): Pages<Backup> {
  const { client, tenant } = useSession()
  return usePages(keys.records(tenant, 'backups', 'list'), client.backups.list)
}

export function useBackup(id: string): UseQueryResult<BackupRecord> {
  const { client, tenant } = useSession()
  return useQuery({
    queryKey: keys.records(tenant, 'backups', 'one', id),
    queryFn: async ({ signal }) => requireValue(await client.backups.read(id, { signal })),
  })
}
