// The endpoints of jobs, below /api/v1/jobs.

import {
  type Code,
  defined,
  type JobRecord,
  jobRecordShape,
  string,
  type WrittenJob,
  whyShape,
  writtenJobShape,
} from '@holdfast/contract'
import { JOB_LACKS } from '@holdfast/core'
import type { DeploymentDeps } from '../../operations/deployments/deps.ts'
import type { LogDeps } from '../../operations/deployments/logs/read-logs.ts'
import type { KeptAnswer } from '../../operations/idempotency.ts'
import { cancelJob } from '../../operations/jobs/cancel-job.ts'
import { createJob } from '../../operations/jobs/create-job.ts'
import { readJobLogs } from '../../operations/jobs/read-job-logs.ts'
import { getJob, listJobs, readJobWhy } from '../../operations/jobs/read-jobs.ts'
import { type Endpoint, endpoint, listEndpoint, param } from '../endpoint.ts'
import { kept, respondOnce } from '../idempotent.ts'
import { newJobShape } from '../sent-deployment.ts'
import { ADMISSION_CODES } from './deployment-responses.ts'
import { NDJSON, streamLines } from './logs.ts'

const JOBS = '/api/v1/jobs'
const ONE = `${JOBS}/{id}`

const etagOf = ({ revision }: JobRecord): string => String(revision)

export const jobEndpoints = (deps: DeploymentDeps): Endpoint[] => [
  listEndpoint(JOBS, {
    operation: 'listJobs',
    action: 'jobs:read',
    summary: 'List the jobs of the tenant; finished ones are kept for 7 days, at most 1,000',
    item: jobRecordShape,
    run: ({ caller, query }) => listJobs(deps.store, caller.tenant, query),
  }),
  createEndpoint(deps),
  endpoint('GET', ONE, {
    operation: 'getJob',
    action: 'jobs:read',
    summary: 'Read a job',
    shape: jobRecordShape,
    codes: ['job_not_found'],
    run: (request) => getJob(deps.store, request.caller.tenant, param(request, 'id')),
    etag: etagOf,
  }),
  endpoint('GET', `${ONE}/why`, {
    operation: 'explainJob',
    action: 'jobs:read',
    summary: 'Explain why a job has no node: every node with every reason',
    query: ['limit', 'cursor'],
    shape: whyShape,
    codes: ['job_not_found'],
    run: (request) => readJobWhy(deps, request.caller.tenant, param(request, 'id'), request.query),
  }),
  endpoint('DELETE', ONE, {
    operation: 'deleteJob',
    action: 'jobs:write',
    summary: 'Cancel a job; one that has ended stays as it is',
    headers: ['If-Match'],
    status: 202,
    shape: jobRecordShape,
    codes: ['job_not_found', 'revision_conflict'],
    run: (request) => cancelJob(deps, request.caller, param(request, 'id'), request.ifMatch),
  }),
]

/** Logs are no write and have no dry run. */
export const jobLogEndpoint = (deps: LogDeps): Endpoint =>
  endpoint('GET', `${ONE}/logs`, {
    operation: 'getJobLogs',
    action: 'logs:read',
    summary:
      'Read the log of the last attempt of a job, and with follow of each later one; one JSON object per line',
    query: ['follow', 'tail', 'since'],
    streams: true,
    shape: string(),
    type: NDJSON,
    codes: ['job_not_found'],
    handle: async (request) => {
      const { follow, tail, since } = request.query
      const asked = { follow, tail, ...defined({ since }) }
      const lines = await readJobLogs(deps, request.caller, param(request, 'id'), asked)
      return lines.ok ? { ok: true, value: streamLines(lines.value) } : lines
    },
  })

/** Codes of fields that jobs do not have. */
const NOT_OF_JOBS: readonly Code[] = [
  ...JOB_LACKS,
  'dependency_not_found',
  'dependency_has_no_health_check',
  'node_candidates_unresolvable',
  'node_not_a_placement_candidate',
  'anchored_secret_dropped',
  'anchored_secret_repointed',
  'route_conflict',
]

const created = (written: WrittenJob): KeptAnswer => ({
  status: 201,
  body: written,
  etag: etagOf(written.job),
})

const createEndpoint = (deps: DeploymentDeps): Endpoint =>
  endpoint('POST', JOBS, {
    operation: 'createJob',
    action: 'jobs:write',
    summary: 'Run a container once, on one node',
    headers: ['Idempotency-Key'],
    body: newJobShape,
    status: 201,
    shape: writtenJobShape,
    codes: [
      ...ADMISSION_CODES.filter((code) => !NOT_OF_JOBS.includes(code)),
      'job_node_candidates_unresolvable',
      'job_node_not_found',
      'quota_exceeded',
      'idempotency_key_reused',
    ],
    handle: (request) =>
      respondOnce(
        deps.answers,
        request,
        JOBS,
        (once) => createJob(deps, request.caller, request.body, kept(once, created)),
        created,
      ),
  })
