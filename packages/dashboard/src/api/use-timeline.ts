// The timeline of the tenant: events, and audit entries of the requests behind them, before a time.

import type { AuditEntry, ListedEvent } from '@holdfast/contract'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { requireValue } from './failure.ts'
import { keys } from './keys.ts'
import { useSession } from './session.tsx'

export interface TimelineFilter {
  /** Name of the record. */
  readonly subject?: string | undefined
  /** Only entries before this time; absent: up to now. */
  readonly until?: string | undefined
  /** Shows entries that changed nothing, too. */
  readonly reads?: boolean | undefined
}

export interface TimelineData {
  /** Both lists; undefined until both have been read. */
  readonly read:
    | {
        readonly events: readonly ListedEvent[]
        readonly audit: readonly AuditEntry[]
        /** True if a list is full, so that there may be older entries. */
        readonly hasOlder: boolean
      }
    | undefined
  readonly error: Error | null
}

const LIMIT = 100

/** The events of one record before a time, newest first. */
export function useEventsBefore(subject: string, until: string): UseQueryResult<readonly ListedEvent[]> {
  const { client, tenant } = useSession()
  const filter = { limit: LIMIT, subject, until }
  return useQuery({
    queryKey: keys.events(tenant, filter),
    queryFn: async ({ signal }) => requireValue(await client.pastEvents(filter, { signal })).items,
    select: (oldestFirst) => oldestFirst.toReversed(),
  })
}

export function useTimeline({ subject, until }: TimelineFilter): TimelineData {
  const { client, tenant } = useSession()
  const filter = { limit: LIMIT, subject, until }
  const events = useQuery({
    queryKey: keys.events(tenant, filter),
    queryFn: async ({ signal }) => requireValue(await client.pastEvents(filter, { signal })).items,
  })
  const audit = useQuery({
    queryKey: keys.audit(tenant, filter),
    queryFn: async ({ signal }) => requireValue(await client.audit(filter, { signal })).items,
  })
  const known = events.data !== undefined && audit.data !== undefined
  const counted = events.data?.reduce((sum, { count }) => sum + count, 0) ?? 0
  const hasOlder = counted >= LIMIT || (audit.data?.length ?? 0) >= LIMIT
  return {
    read: known ? { events: events.data, audit: audit.data, hasOlder } : undefined,
    error: events.error ?? audit.error,
  }
}
