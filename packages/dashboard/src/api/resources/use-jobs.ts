// Jobs: the list, one job with its events and log, and why it has no node.

import type { JobRecord, ListedEvent, Why } from '@holdfast/contract'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { useCallback } from 'react'
import { requireValue } from '../failure.ts'
import { keys } from '../keys.ts'
import { useSession } from '../session.tsx'
import { type Logs, type OpenLog, useLogStream } from '../use-logs.ts'
import { type Pages, usePages } from './use-pages.ts'

export function useJobs(): Pages<JobRecord> {
  const { client, tenant } = useSession()
  return usePages(keys.records(tenant, 'jobs', 'list'), client.jobs.list)
}

export function useJob(id: string): UseQueryResult<JobRecord> {
  const { client, tenant } = useSession()
  return useQuery({
    queryKey: keys.records(tenant, 'jobs', 'one', id),
    queryFn: async ({ signal }) => requireValue(await client.jobs.read(id, { signal })),
  })
}

export function useJobWhy(id: string, enabled: boolean): UseQueryResult<Why> {
  const { client, tenant } = useSession()
  return useQuery({
    queryKey: keys.why(tenant, id, {}),
    enabled,
    queryFn: async ({ signal }) => requireValue(await client.jobs.why(id, { signal })),
  })
}

const EVENTS = 100

/** The events of the job, the newest first. Other jobs may have the same name. */
export function useJobEvents({ id, name }: JobRecord): UseQueryResult<readonly ListedEvent[]> {
  const { client, tenant } = useSession()
  return useQuery({
    queryKey: keys.events(tenant, { subject: name, limit: EVENTS, job: id }),
    queryFn: async ({ signal }) => {
      const { items } = requireValue(await client.pastEvents({ subject: name, limit: EVENTS }, { signal }))
      return items.filter(({ subject }) => subject.uid === id).toReversed()
    },
  })
}

/** The log of all attempts. After the end of the job it is read once more, complete. */
export function useJobLogs(id: string, ended: boolean): Logs {
  const { client } = useSession()
  const open = useCallback<OpenLog>(
    (resume, signal) => client.jobs.logs(id, { follow: !ended, ...resume }, { signal }),
    [client, id, ended],
  )
  return useLogStream(open)
}
