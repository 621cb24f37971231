// The newest audit entries of one node, newest first.

import type { AuditEntry } from '@holdfast/contract'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { requireValue } from '../failure.ts'
import { keys } from '../keys.ts'
import { useSession } from '../session.tsx'

const LIMIT = 100

export function useNodeAudit(name: string): UseQueryResult<readonly AuditEntry[]> {
  const { client, tenant } = useSession()
  const filter = { limit: LIMIT, subject: name }
  return useQuery({
    queryKey: keys.audit(tenant, filter),
    queryFn: async ({ signal }) => requireValue(await client.audit(filter, { signal })).items,
  })
}
