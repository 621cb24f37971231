import { asNodeId } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { aJob } from '../../store/records.fixture.ts'
import type { StoredJob } from '../../store/records.ts'
import { jobEndedEvent, jobStartedEvent } from './job-events.ts'
import { jobView } from './job-view.ts'

const placed = { nodeId: asNodeId('node_01JCPZ0000000000000000000A'), nodeName: 'a' }
const job = (changes: Partial<StoredJob>): StoredJob => aJob({}, { ...placed, attempts: 1, ...changes })
const exited = { reason: 'exited', exitCode: 3 }
const lost = { reason: 'node_lost', exitCode: null }
const RUNS = ' The container of an earlier attempt may still run on its lost node.'

test.each([
  [{}, false, 'started', 'Job migrate was assigned to node a.'],
  [
    { attempts: 2, previous: exited },
    false,
    'retried',
    'Attempt 2 of job migrate was assigned to node a. Attempt 1 failed: its container ended with exit code 3.',
  ],
  [
    { attempts: 2, previous: lost },
    true,
    'node_lost',
    `Attempt 2 of job migrate was assigned to node a. Attempt 1 was abandoned: its node was lost.${RUNS}`,
  ],
] as const)('the event of the start of %j', (changes, isLost, reason, message) => {
  const { previous = null } = changes as Partial<StoredJob>
  expect(jobStartedEvent(job(changes), isLost)).toMatchObject({
    ...{ reason, message, severity: isLost ? 'warning' : 'info' },
    data: { previousReason: previous?.reason ?? null, previousExitCode: previous?.exitCode ?? null },
  })
})

test.each([
  [{ phase: 'failed', ...exited }, 'error', 'Job migrate failed: its container ended with exit code 3.'],
  [
    { phase: 'failed', reason: 'timed_out', exitCode: 143, attempts: 2 },
    'error',
    'Job migrate failed after 2 attempts: it took longer than its timeout.',
  ],
  [
    { phase: 'failed', reason: 'node_removed' },
    'error',
    'Job migrate failed: its node was removed before the end of its container was reported. The container may still run.',
  ],
  [{ phase: 'cancelled', reason: '' }, 'info', 'Job migrate was cancelled.'],
  [
    { phase: 'cancelled', reason: 'unconfirmed' },
    'warning',
    'Job migrate was cancelled. Its node was lost or removed before the end of its container was reported, so the container may still run.',
  ],
] as const)('the event of the end of %j', (changes, severity, message) => {
  expect(jobEndedEvent(job(changes))).toMatchObject({ severity, message })
})

test.each([
  [exited, 'Attempt 1 failed: its container ended with exit code 3. The next one may start at T.'],
  [lost, 'Attempt 1 was abandoned: its node was lost. The next one may start at T.'],
])('the status between attempts says how the last one ended: %j', (previous, message) => {
  const waiting = job({ reason: 'backoff', retryAt: 'T', previous, exitCode: previous.exitCode })
  const store = { get: () => undefined }
  expect(jobView(store, '' as never, waiting).status.message).toBe(message)
})
