import { type Assignment, asAssignmentId, type Observation } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { nodeIdOf } from '../scheduling/scheduling.fixture.ts'
import type { AttemptFacts } from './attempt-end.ts'
import { type JobSituation, type JobState, nextJob, startAttempt, startTimeoutOf } from './next-job.ts'

const NOW = Date.parse('2026-01-01T12:00:00.000Z')
const at = (seconds: number): string => new Date(NOW + seconds * 1000).toISOString()
const [FIRST, SECOND] = [asAssignmentId('rep_1'), asAssignmentId('rep_2')]

const NEW: JobState = {
  ...{ phase: 'pending', reason: '', cancelled: false, attempts: 0, failures: 0 },
  ...{ nodeId: null, startedAt: null, finishedAt: null, exitCode: null },
}
const ASSIGNED: JobState = {
  ...NEW,
  ...{ current: FIRST, attempts: 1, nodeId: nodeIdOf(1), deadlineAt: at(3600) },
}
const RUNNING: JobState = { ...ASSIGNED, phase: 'running', startedAt: at(-10) }
const CANCELLED: JobState = { ...RUNNING, cancelled: true }

const assignment = (changes: Partial<Assignment> = {}): Assignment => ({
  ...{ id: FIRST, replica: 1, nodeId: nodeIdOf(1), revision: 1, templateHash: 'h' },
  ...{ desired: 'running', assignedAt: at(-20) },
  ...changes,
})
const report = (changes: Partial<Observation> = {}): Observation => ({
  ...{ assignmentId: FIRST, generation: 1, seq: 1, state: 'running', containerId: 'c', startedAt: at(-10) },
  ...{ exitCode: null, restarts: 0, reason: '', gone: false },
  ...changes,
})
const ended = (code: number, changes: Partial<Observation> = {}): Observation =>
  report({ state: 'stopped', exitCode: code, lastExit: { code, at: at(-1) }, ...changes })

interface Given {
  readonly before: JobState
  readonly assignments?: readonly Assignment[]
  readonly facts?: Partial<AttemptFacts>
  readonly spec?: Partial<JobSituation['spec']>
  readonly isResolved?: boolean
  readonly age?: number
}

const decide = ({ before, assignments = [], facts, spec, isResolved = true, age = 0 }: Given) =>
  nextJob(before, {
    spec: { timeout: '1h', retries: 0, onNodeLoss: 'wait', ...spec },
    assignments,
    factsOf: () => ({ seen: undefined, node: 'staying', ...facts }),
    isResolved,
    createdAt: NOW - age,
    now: NOW,
  })

type Expected = readonly [
  phase: string,
  reason: string,
  desired: readonly string[],
  other?: Partial<JobState> & { readonly mayStart?: boolean; readonly wakeAt?: number | undefined },
]

const attempt = [assignment()]
const stopping = [assignment({ desired: 'stopped' })]
const leaving = [assignment({ desired: 'removed' })]
const retrying: JobState = { ...NEW, attempts: 1, failures: 1, retryAt: at(2) }
const failedNode = { node: 'failed' } as const

const ROWS: readonly (readonly [string, Given, Expected])[] = [
  ['starts', { before: NEW }, ['pending', '', [], { mayStart: true }]],
  [
    'waits for its image as long as an attempt may take to start',
    { before: NEW, isResolved: false, age: 3_599_000 },
    ['pending', 'image_unresolved', [], { wakeAt: NOW + 1000 }],
  ],
  [
    'fails if no registry resolves its image in time',
    { before: NEW, isResolved: false, age: 3_600_000 },
    ['failed', 'image_unresolved', [], { finishedAt: at(0), attempts: 0 }],
  ],
  ['waits for the first report', { before: ASSIGNED, assignments: attempt }, ['pending', '', ['running']]],
  [
    'shows why it does not start',
    {
      before: ASSIGNED,
      assignments: attempt,
      facts: { seen: report({ startedAt: null, reason: 'image_pull_failed' }) },
    },
    ['pending', 'image_pull_failed', ['running']],
  ],
  [
    'runs, and its time begins',
    { before: ASSIGNED, assignments: attempt, facts: { seen: report() } },
    ['running', '', ['running'], { startedAt: at(-10), deadlineAt: at(3600), wakeAt: NOW + 3_600_000 }],
  ],
  [
    'takes the start of a container that ended before it was seen running from the report of its end',
    { before: ASSIGNED, assignments: attempt, facts: { seen: ended(0) } },
    ['succeeded', '', ['removed'], { startedAt: at(-10) }],
  ],
  [
    'stores the start of its container with milliseconds, as all times',
    {
      before: ASSIGNED,
      assignments: attempt,
      facts: { seen: report({ startedAt: at(-10).replace('000Z', '000123456Z') }) },
    },
    ['running', '', ['running'], { startedAt: at(-10) }],
  ],
  [
    'uses the time of the server if its agent reports a start that is no time',
    { before: ASSIGNED, assignments: attempt, facts: { seen: report({ startedAt: 'soon' }) } },
    ['running', '', ['running'], { startedAt: at(0) }],
  ],
  [
    'succeeds',
    { before: RUNNING, assignments: attempt, facts: { seen: ended(0) } },
    ['succeeded', '', ['removed'], { exitCode: 0, finishedAt: at(0), current: undefined }],
  ],
  [
    'fails without retries',
    { before: RUNNING, assignments: attempt, facts: { seen: ended(3) } },
    ['failed', 'exited', ['removed'], { exitCode: 3, failures: 1 }],
  ],
  [
    'fails for lack of memory',
    {
      before: RUNNING,
      assignments: attempt,
      facts: { seen: ended(137, { lastExit: { code: 137, oomKilled: true, at: at(-1) } }) },
    },
    ['failed', 'oom_killed', ['removed']],
  ],
  [
    'is retried after a second',
    { before: RUNNING, assignments: attempt, facts: { seen: ended(3) }, spec: { retries: 1 } },
    [
      'pending',
      'backoff',
      ['removed'],
      { exitCode: 3, retryAt: at(1), wakeAt: NOW + 1000, previous: { reason: 'exited', exitCode: 3 } },
    ],
  ],
  [
    'is retried after a doubled time',
    {
      before: { ...RUNNING, failures: 3 },
      assignments: attempt,
      facts: { seen: ended(3) },
      spec: { retries: 9 },
    },
    ['pending', 'backoff', ['removed'], { retryAt: at(8) }],
  ],
  [
    'is retried after a minute at most',
    {
      before: { ...RUNNING, failures: 8 },
      assignments: attempt,
      facts: { seen: ended(3) },
      spec: { retries: 9 },
    },
    ['pending', 'backoff', ['removed'], { retryAt: at(60) }],
  ],
  ['waits between attempts', { before: retrying }, ['pending', 'backoff', [], { wakeAt: NOW + 2000 }]],
  [
    'starts the next attempt when its time has come',
    { before: { ...retrying, retryAt: at(0) } },
    ['pending', '', [], { mayStart: true }],
  ],
  [
    'waits until the container before is gone',
    { before: { ...retrying, retryAt: at(0) }, assignments: leaving, facts: { seen: ended(3) } },
    ['pending', 'stopping', ['removed'], { mayStart: false }],
  ],
  [
    'starts the next attempt once the container before is gone',
    {
      before: { ...retrying, retryAt: at(0) },
      assignments: leaving,
      facts: { seen: ended(3, { gone: true }) },
    },
    ['pending', '', [], { mayStart: true }],
  ],
  [
    'is stopped at the end of its time',
    { before: { ...RUNNING, deadlineAt: at(0) }, assignments: attempt, facts: { seen: report() } },
    ['running', 'timed_out', ['stopped']],
  ],
  [
    'is stopped if it never starts',
    { before: { ...ASSIGNED, deadlineAt: at(0) }, assignments: attempt },
    ['pending', 'timed_out', ['stopped']],
  ],
  [
    'fails after its time, whatever its exit code',
    { before: RUNNING, assignments: stopping, facts: { seen: report({ state: 'stopped', exitCode: 0 }) } },
    ['failed', 'timed_out', ['removed'], { exitCode: 0 }],
  ],
  [
    'fails if the engine refuses its container three times',
    {
      before: ASSIGNED,
      assignments: attempt,
      facts: { seen: report({ state: 'starting', startedAt: null, reason: 'start_failed', restarts: 3 }) },
    },
    ['failed', 'start_failed', ['removed'], { exitCode: null }],
  ],
  [
    'keeps trying before the third refusal of the engine',
    {
      before: ASSIGNED,
      assignments: attempt,
      facts: { seen: report({ state: 'starting', startedAt: null, reason: 'start_failed', restarts: 2 }) },
    },
    ['pending', 'start_failed', ['running']],
  ],
  [
    'is stopped when it is cancelled',
    { before: CANCELLED, assignments: attempt, facts: { seen: report() } },
    ['running', 'cancelling', ['stopped']],
  ],
  [
    'is cancelled once its container has ended',
    {
      before: CANCELLED,
      assignments: stopping,
      facts: { seen: report({ state: 'stopped', exitCode: 143 }) },
    },
    ['cancelled', '', ['removed'], { exitCode: 143, finishedAt: at(0) }],
  ],
  [
    'succeeds if its container ended before its node, which was away, got the order to stop it',
    { before: RUNNING, assignments: stopping, facts: { seen: ended(0) }, spec: { retries: 3 } },
    ['succeeded', '', ['removed'], { exitCode: 0 }],
  ],
  [
    'fails by its own exit code if its container ended before the order to stop it',
    { before: RUNNING, assignments: stopping, facts: { seen: ended(3) } },
    ['failed', 'exited', ['removed'], { exitCode: 3 }],
  ],
  ['is cancelled before its first attempt', { before: { ...NEW, cancelled: true } }, ['cancelled', '', []]],
  [
    'is cancelled between attempts',
    { before: { ...retrying, cancelled: true }, assignments: leaving, facts: { seen: ended(3) } },
    ['cancelled', '', ['removed'], { finishedAt: at(0), retryAt: undefined }],
  ],
  [
    'waits with its cancellation for a container that returned with its node',
    { before: { ...retrying, cancelled: true }, assignments: leaving, facts: { seen: report() } },
    ['pending', 'cancelling', ['removed'], { finishedAt: null }],
  ],
  [
    'is cancelled although a container may run on a lost node, and reports it',
    {
      before: { ...retrying, cancelled: true },
      assignments: leaving,
      facts: { ...failedNode, seen: report() },
    },
    ['cancelled', 'unconfirmed', ['removed'], { finishedAt: at(0) }],
  ],
  [
    'is cancelled after its node was removed, and says that its container may run',
    { before: { ...retrying, cancelled: true, previous: { reason: 'node_removed', exitCode: null } } },
    ['cancelled', 'unconfirmed', []],
  ],
  [
    'waits for its lost node',
    { before: RUNNING, assignments: attempt, facts: { ...failedNode, seen: report() } },
    ['running', 'node_lost', ['running']],
  ],
  [
    'waits for its lost node although it is cancelled',
    {
      before: CANCELLED,
      assignments: attempt,
      facts: { ...failedNode, seen: report() },
      spec: { onNodeLoss: 'retry' },
    },
    ['running', 'node_lost', ['stopped']],
  ],
  [
    'waits a second after the loss of its node, and longer after further losses',
    {
      before: { ...RUNNING, attempts: 4, failures: 1 },
      assignments: attempt,
      facts: { ...failedNode, seen: report() },
      spec: { onNodeLoss: 'retry' },
    },
    ['pending', 'backoff', ['removed'], { mayStart: false, failures: 1, exitCode: null, retryAt: at(4) }],
  ],
  [
    'starts elsewhere after the loss of its node, beside its retries',
    {
      before: { ...NEW, attempts: 1, retryAt: at(0) },
      assignments: leaving,
      facts: { ...failedNode, seen: report() },
      spec: { onNodeLoss: 'retry' },
    },
    ['pending', '', ['removed'], { mayStart: true, failures: 0, exitCode: null }],
  ],
  [
    'succeeds if its end was reported before its node was lost',
    { before: RUNNING, assignments: attempt, facts: { ...failedNode, seen: ended(0) } },
    ['succeeded', '', ['removed']],
  ],
  [
    'starts the next attempt although the node of an ended container is lost',
    {
      before: { ...retrying, retryAt: at(0) },
      assignments: leaving,
      facts: { ...failedNode, seen: ended(3) },
    },
    ['pending', '', ['removed'], { mayStart: true }],
  ],
  [
    'fails with a node that is removed by force',
    { before: RUNNING, assignments: attempt, facts: { node: 'absent', seen: report() } },
    ['failed', 'node_removed', [], { exitCode: null }],
  ],
  [
    'is cancelled with a node that is removed by force',
    { before: CANCELLED, assignments: stopping, facts: { node: 'absent', seen: report() } },
    ['cancelled', 'unconfirmed', []],
  ],
  [
    'keeps running on a node that is drained',
    { before: RUNNING, assignments: attempt, facts: { node: 'leaving', seen: report() } },
    ['running', '', ['running']],
  ],
  [
    'stays as it ended',
    {
      before: { ...NEW, phase: 'succeeded', exitCode: 0, cancelled: true },
      assignments: leaving,
      facts: { seen: ended(0) },
    },
    ['succeeded', '', ['removed']],
  ],
]

test.each(ROWS.map(([about, given, expected]) => ({ about, given, expected })))(
  'a job $about',
  ({ given, expected: [phase, reason, desired, other = {}] }) => {
    const next = decide(given)
    expect([next.state.phase, next.state.reason, next.assignments.map((each) => each.desired)]).toEqual([
      phase,
      reason,
      desired,
    ])
    expect({ ...next.state, mayStart: next.mayStart, wakeAt: next.wakeAt }).toMatchObject(other)
  },
)

test('the next attempt has its own assignment and none of the results of the one before', () => {
  const before: JobState = { ...retrying, exitCode: 3, startedAt: at(-10), reason: 'backoff' }
  expect(startAttempt(before, { id: SECOND, nodeId: nodeIdOf(2) }, NOW)).toEqual({
    ...NEW,
    ...{ current: SECOND, attempts: 2, failures: 1, nodeId: nodeIdOf(2), deadlineAt: at(0) },
    ...{ retryAt: undefined },
  })
})

test.each([
  ['1s', 15],
  ['15m', 15],
  ['1h', 60],
])('with a timeout of %s an attempt has %s minutes to start', (timeout, minutes) => {
  expect(startTimeoutOf({ timeout })).toBe(minutes * 60_000)
})

test('never two attempts may run at once, whatever was reported', () => {
  const seen = [undefined, report(), ended(0), ended(3), ended(3, { gone: true })]
  const nodes = ['staying', 'leaving', 'failed', 'absent'] as const
  for (const one of seen)
    for (const node of nodes)
      for (const before of [RUNNING, ASSIGNED, CANCELLED, { ...retrying, retryAt: at(0) }]) {
        const next = decide({
          before,
          assignments: attempt,
          facts: { seen: one, node },
          spec: { retries: 3 },
        })
        const mayStillRun = node !== 'absent' && !(one !== undefined && (one.gone || one.state === 'stopped'))
        expect(next.mayStart && mayStillRun, `${node} ${one?.state} ${before.phase}`).toBe(false)
      }
})
