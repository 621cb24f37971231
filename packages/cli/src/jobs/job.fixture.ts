// A job for tests.

import { asJobId, asNodeId, type JobRecord, type JobStatus } from '@holdfast/contract'

export const aJobStatus = (parts: Partial<JobStatus> = {}): JobStatus => ({
  phase: 'running',
  reason: '',
  message: '',
  nodeId: asNodeId('node_01JD7Q4ZJ8V5T2M0K3X9R6B1CA'),
  nodeName: 'n1',
  startedAt: '2026-01-31T11:59:00.000Z',
  finishedAt: null,
  exitCode: null,
  attempts: 1,
  image: { reference: 'registry.example.com/shop/web:1.4.2', digest: null },
  ...parts,
})

/** The status of a job that no node has started. */
export const pendingStatus = (parts: Partial<JobStatus> = {}): JobStatus =>
  aJobStatus({ phase: 'pending', nodeId: null, nodeName: null, startedAt: null, attempts: 0, ...parts })

/** The status of a job after its end. */
export const endedStatus = (exitCode: number | null, parts: Partial<JobStatus> = {}): JobStatus =>
  aJobStatus({
    phase: exitCode === 0 ? 'succeeded' : 'failed',
    reason: exitCode === 0 ? '' : 'exited',
    finishedAt: '2026-01-31T11:59:42.000Z',
    exitCode,
    ...parts,
  })

export const aJob = (status: JobStatus = aJobStatus(), parts: Partial<JobRecord> = {}): JobRecord => ({
  id: asJobId('job_01JD7QAF7T1B3V9W5Y8Z2A4C6D'),
  kind: 'Job',
  name: 'migrate',
  image: 'registry.example.com/shop/web:1.4.2',
  secrets: [],
  resources: { cpuMillis: 100, memoryBytes: 134_217_728 },
  command: ['./migrate', '--all'],
  stopGracePeriod: '10s',
  timeout: '1h',
  retries: 0,
  onNodeLoss: 'wait',
  createdAt: '2026-01-31T11:58:00.000Z',
  revision: 1,
  residencyLabels: {},
  status,
  ...parts,
})

/** The response to a created job. */
export const written = (job: JobRecord) => ({ job, alterations: [], warnings: [] })

/** A stored log as the API streams it. */
export const logText = (
  ...lines: readonly (readonly [stream: 'stdout' | 'stderr', text: string])[]
): string =>
  lines
    .map(([stream, text], at) =>
      JSON.stringify({ time: `2026-01-31T11:59:0${at}.000Z`, replica: 1, node: 'n1', stream, text }),
    )
    .map((line) => `${line}\n`)
    .join('')
