// Cancels a job only if it has not ended: the request that cancels an active job removes an ended one with its log.

import type { Client, Result } from '@holdfast/client'
import { isFinalPhase, type JobRecord } from '@holdfast/contract'

/** The record of a job that is starting changes a few times; more changes than this have another cause. */
const MOST_TRIES = 10

/** The job, which is being cancelled or has ended already. */
export async function cancelActive(
  client: Client,
  id: string,
  signal?: AbortSignal,
): Promise<Result<JobRecord>> {
  for (let left = MOST_TRIES; ; left -= 1) {
    const read = await client.jobs.read(id, { signal })
    if (!read.ok || isFinalPhase(read.value.status.phase)) return read
    const cancelled = await client.jobs.cancel(id, { ifMatch: String(read.value.revision), signal })
    if (cancelled.ok || left <= 1 || !isChanged(cancelled)) return cancelled
  }
}

/** Whether the job has changed since it was read. */
const isChanged = (result: Result<JobRecord>): boolean =>
  !result.ok && result.failure.kind === 'rejected' && result.failure.status === 412
