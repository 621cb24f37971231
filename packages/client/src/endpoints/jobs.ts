// The endpoints of jobs.

import {
  dryRunResultShape,
  type JsonObject,
  jobRecordShape,
  pageShape,
  whyShape,
  writtenJobShape,
} from '@holdfast/contract'
import type { CallOptions, Calls, ConditionalOptions, IntentOptions } from '../calls.ts'
import type { Connection } from '../connection.ts'
import type { PageQuery } from '../pages.ts'
import { type JobLogOptions, type JobLogQuery, readJobLogs } from '../read-job-logs.ts'
import { segment } from '../request.ts'

/** A job that the client has not checked; the server validates it. */
export type SentJob = JsonObject

const JOBS = '/jobs'
const one = (id: string): string => `${JOBS}/${segment(id)}`

export function jobCalls({ get, post, write, dryRun }: Calls, connection: Connection) {
  return {
    list: (page: PageQuery = {}, options?: CallOptions) =>
      get(JOBS, pageShape(jobRecordShape), { ...page }, options),
    read: (id: string, options?: CallOptions) => get(one(id), jobRecordShape, {}, options),
    create: (sent: SentJob, options?: IntentOptions) => post(JOBS, sent, writtenJobShape, options),
    /** Why a job has no node: every node with every reason. */
    why: (id: string, options?: CallOptions) => get(`${one(id)}/why`, whyShape, {}, options),
    /** Cancels a job that has not ended; removes one that has, unless `ifMatch` is the revision of an earlier state. */
    cancel: (id: string, options?: ConditionalOptions) =>
      write('DELETE', one(id), jobRecordShape, {}, options),
    logs: (id: string, query: JobLogQuery, options?: JobLogOptions) =>
      readJobLogs(connection, `${one(id)}/logs`, query, options),
    dryRuns: {
      create: (sent: SentJob, options?: CallOptions) =>
        dryRun('POST', JOBS, dryRunResultShape(writtenJobShape), { body: sent }, options),
      cancel: (id: string, options?: CallOptions) =>
        dryRun('DELETE', one(id), dryRunResultShape(jobRecordShape), {}, options),
    },
  }
}
