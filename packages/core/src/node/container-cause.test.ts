import { type Assignment, MAX_CAUSE_BYTES, type NodeId, utf8Length } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { containerCause, type FailureFacts, failingContainers } from './container-cause.ts'

const AT = '2026-01-01T00:00:00.000Z'
const seen = (reason: string, facts: Partial<FailureFacts> = {}): FailureFacts => ({
  state: 'running',
  reason,
  ...facts,
})
const NOT_FOUND = 'exec: "serve": executable file not found in $PATH'

test.each<[FailureFacts | undefined, string | undefined]>([
  [undefined, undefined],
  [seen(''), undefined],
  [seen('', { state: 'ready', lastExit: { code: 42, at: AT } }), undefined],
  [seen('', { lastExit: { code: 42, at: AT } }), 'exited with code 42'],
  [seen('', { lastExit: { code: 42, at: AT }, failedChecks: 2, cause: 'refused' }), 'exited with code 42'],
  [seen('', { failedChecks: 2, cause: 'refused' }), 'health check failed: refused'],
  [seen('not_ready'), undefined],
  [seen('secret_unresolved'), undefined],
  [seen('exited'), 'exited'],
  [seen('exited', { exitCode: 1 }), 'exited with code 1'],
  [seen('exited', { exitCode: 0, lastExit: { code: 42, at: AT } }), 'exited with code 42'],
  [seen('exited', { lastExit: { code: 137, signal: 'SIGKILL', at: AT } }), 'killed by SIGKILL'],
  [seen('exited', { lastExit: { code: 137, oomKilled: true, at: AT } }), 'OOM-killed'],
  [
    seen('exited', { lastExit: { code: 137, oomKilled: true, oomLimitBytes: 6 * 1024 ** 2, at: AT } }),
    'OOM-killed at 6 MiB',
  ],
  [
    seen('exited', { lastExit: { code: 137, oomKilled: true, oomLimitBytes: 1.5 * 1024 ** 3, at: AT } }),
    'OOM-killed at 1.5 GiB',
  ],
  [seen('unhealthy'), 'health check failed'],
  [seen('unhealthy', { cause: '/bin/sh: wget: not found' }), 'health check failed: /bin/sh: wget: not found'],
  [seen('start_failed', { cause: NOT_FOUND }), `cannot start: ${NOT_FOUND}`],
  [
    seen('start_failed', { cause: 'exec /bin/serve: exec format error' }),
    'cannot start: exec /bin/serve: exec format error (the image is built for another architecture)',
  ],
  [seen('image_pull_failed', { cause: 'manifest unknown' }), 'image pull failed: manifest unknown'],
  [seen('create_failed', { cause: 'no space left' }), 'cannot create the container: no space left'],
])('a report %j has the cause %j', (facts, cause) => expect(containerCause(facts)).toBe(cause))

test('a cause stays within its limit', () => {
  const cause = containerCause(seen('unhealthy', { cause: 'x'.repeat(MAX_CAUSE_BYTES) })) ?? ''
  expect(utf8Length(cause)).toBe(MAX_CAUSE_BYTES)
  expect(cause).toMatch(/^health check failed: x+\.\.\.$/)
})

test('an explanation lists containers that fail by replica, and at most ten', () => {
  const assigned = (replica: number) =>
    ({ id: `rep_${replica}`, replica, nodeId: 'node_1' as NodeId }) as Assignment
  const lastExit = { code: 42, at: AT }
  const failing = failingContainers(
    [12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map(assigned),
    (id) => (id === 'rep_2' ? seen('', { state: 'ready' }) : seen('exited', { restarts: 5, lastExit })),
    () => 'node-1',
  )
  expect(failing.map(({ replica }) => replica)).toEqual([1, 3, 4, 5, 6, 7, 8, 9, 10, 11])
  expect(failing[0]).toMatchObject({
    nodeName: 'node-1',
    reason: 'exited',
    cause: 'exited with code 42',
    restarts: 5,
    lastExit,
  })
})
