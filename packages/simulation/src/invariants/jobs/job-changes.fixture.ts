// Changes of jobs for the test of the invariants, each with the invariant that it breaks.

import { type AssignmentId, asAssignmentId, asJobId, ownerOf } from '@holdfast/contract'
import type { StoredJob } from '@holdfast/server/store/records'
import { aSpec } from '@holdfast/server/store/records.fixture'
import type { ContainerState } from '../../cluster/snapshot.ts'
import { type Change, event, node } from '../changes.fixture.ts'
import { anAssignment, aPlacement, N1, N2, OWN, withMachine, written } from '../world.fixture.ts'

const ID = asJobId('job_1')
const JOB = ownerOf('job', ID)
const [A1, A2, A3] = [asAssignmentId('rep_j1'), asAssignmentId('rep_j2'), asAssignmentId('rep_j3')]
const { image, secrets, resources, stopGracePeriod } = aSpec('j')

const aJob = (parts: Partial<StoredJob> = {}, spec: Partial<StoredJob['spec']> = {}): StoredJob => ({
  v: 1,
  id: ID,
  spec: {
    ...{ kind: 'Job', name: 'j', image, secrets, resources, stopGracePeriod },
    ...{ timeout: '1h', retries: 1, onNodeLoss: 'wait', ...spec },
  },
  digest: 'sha256:0',
  revision: 1,
  createdAt: '1970-01-01T00:00:00.000Z',
  slot: 0,
  phase: 'running',
  reason: '',
  unplaced: '',
  cancelled: false,
  attempts: 1,
  failures: 0,
  ...{ nodeId: N1, nodeName: 'n1', startedAt: null, finishedAt: null, exitCode: null },
  ...parts,
})

const job =
  (parts: Partial<StoredJob> = {}, spec: Partial<StoredJob['spec']> = {}): Change =>
  (world) => {
    const stored = aJob(parts, spec)
    const slot = stored.slot === null ? undefined : { v: 1, holder: ID }
    return written(written(world, 'jobs', OWN, ID, stored), 'slots', OWN, 'jobs_running/0', slot)
  }

const attempts =
  (...ids: readonly (AssignmentId | undefined)[]): Change =>
  (world) => {
    const assignments = ids.flatMap((id, at) => (id ? [anAssignment(id, N1, { replica: at + 1 })] : []))
    return written(world, 'placements', OWN, JOB, aPlacement(assignments, { owner: JOB, name: 'j' }))
  }

const runs =
  (on: typeof N1, id: AssignmentId | undefined, state: ContainerState = 'running', startedAt = 0): Change =>
  (world) =>
    withMachine(world, on, ({ containers }) => ({
      containers:
        id === undefined
          ? containers
          : [
              ...containers.filter(({ assignmentId }) => assignmentId !== id),
              { id, assignmentId: id, owner: JOB, templateHash: 'hash', state, startedAt, writes: [] },
            ],
    }))

const ended: Partial<StoredJob> = {
  ...{ phase: 'failed', reason: 'exited', slot: null, exitCode: 1, failures: 2, last: A1 },
  finishedAt: '1970-01-01T00:00:00.000Z',
}
const gone =
  (on: typeof N1): Change =>
  (world) =>
    withMachine(world, on, () => ({ containers: [] }))
const retried = { onNodeLoss: 'retry' } as const
const finalEvent = (type: 'job.failed' | 'job.succeeded', id: string): Change =>
  event({ type, subject: { kind: 'Job', name: 'j', uid: ID } }, id)

export const JOB_TABLE: readonly (readonly [string, string, readonly Change[]])[] = [
  [
    'one-job-container',
    'two containers that run at once',
    [job(), attempts(A1, A2), runs(N1, A1), runs(N2, A2)],
  ],
  [
    'one-job-container',
    'another attempt while a node is unreachable and has not failed',
    [
      job({ current: A1 }, retried),
      attempts(A1),
      runs(N1, A1),
      node({ status: 'unreachable' }, N1),
      job({ current: A2 }, retried),
      attempts(A1, A2),
      runs(N2, A2),
    ],
  ],
  ['job-attempts', 'an end with an attempt left', [job({ ...ended, failures: 1 })]],
  [
    'job-attempts',
    'more attempts than retries although no node failed',
    [job({}, retried), attempts(A1), attempts(A1, A2, A3)],
  ],
  ['job-logs', 'a log that is lost', [job({ last: A1 }), runs(N1, A1), job(ended), gone(N1)]],
  ['jobs-settled', 'a container after the end', [job(), runs(N1, A1), job(ended)]],
  ['job-attempts', 'more attempts than retries', [job(), attempts(A1), attempts(A1, A2, A3)]],
  ['job-attempts', 'a container that is started again', [job(), runs(N1, A1), runs(N1, A1, 'running', 5)]],
  ['job-ends', 'another end', [job(ended), job({ ...ended, phase: 'succeeded', exitCode: 0 })]],
  ['job-ends', 'two final events', [finalEvent('job.failed', 'evt_1'), finalEvent('job.succeeded', 'evt_2')]],
  ['job-ends', 'a slot after the end', [job({ ...ended, slot: 0 })]],
  ['job-ends', 'a job that vanishes', [job(), (world) => written(world, 'jobs', OWN, ID)]],
  ['jobs-settled', 'a job without a container and a reason', [job({ phase: 'pending' })]],
  [
    'jobs-settled',
    'a cancelled job that continues',
    [job({ phase: 'running', cancelled: true }), runs(N1, A1)],
  ],
]
