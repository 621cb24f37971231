// Exit codes and OOM kills in words that people search for.

import { expect, test } from 'vitest'
import { describeExit, explainRuntimeLine, mayBeRefused, oomKilledContainer } from './container-exit.ts'

const at = '2026-01-01T00:00:00Z'
test.each([
  ['an ordinary exit code has no signal', { code: 42, oomKilled: false }, undefined, { code: 42 }],
  ['128 is no signal', { code: 128, oomKilled: false }, undefined, { code: 128 }],
  ['129 is the first signal', { code: 129, oomKilled: false }, 0, { code: 129, signal: 'SIGHUP' }],
  ['137 is SIGKILL', { code: 137, oomKilled: false }, 64, { code: 137, signal: 'SIGKILL' }],
  ['143 is SIGTERM', { code: 143, oomKilled: false }, undefined, { code: 143, signal: 'SIGTERM' }],
  ['159 is the last signal', { code: 159, oomKilled: false }, undefined, { code: 159, signal: 'SIGSYS' }],
  ['255 is no signal', { code: 255, oomKilled: false }, undefined, { code: 255 }],
  [
    'an OOM kill names the memory limit',
    { code: 137, oomKilled: true },
    6_291_456,
    { code: 137, signal: 'SIGKILL', oomKilled: true, oomLimitBytes: 6_291_456 },
  ],
  [
    'an OOM kill of a container without a limit has none',
    { code: 137, oomKilled: true },
    undefined,
    { code: 137, signal: 'SIGKILL', oomKilled: true },
  ],
])('%s', (_, exit, limit, expected) => {
  expect(describeExit({ ...exit, at }, limit)).toEqual({ ...expected, at })
})

const LINE = '2026-01-01T00:00:00.123456789Z exec /bin/app:'
test.each([
  [`${LINE} exec format error\n`, /^exec format error: .* linux\/amd64$/],
  [`${LINE} no such file or directory\n`, /^no such file or directory: /],
  [`${LINE} permission denied\n`, /^permission denied: /],
])('explains the line of the runtime %j', (line, expected) => {
  expect(explainRuntimeLine(line, 'x64')).toMatch(expected)
})

test.each([
  ['a short run with the exit code of the runtime', { code: 255 }, true],
  ['a run with another exit code', { code: 42 }, false],
  ['a run of some seconds on a busy machine', { code: 255, startedAt: '2025-12-31T23:59:56Z' }, true],
  ['a long run', { code: 1, startedAt: '2025-12-31T23:59:00Z' }, false],
  ['a run whose start is unknown', { code: 1, startedAt: null }, true],
  ['a start that the engine recorded after the end', { code: 1, startedAt: '2026-01-01T00:00:01Z' }, true],
])('%s may be a program that was not executed: %s', (_, end, expected) => {
  expect(mayBeRefused({ startedAt: at, finishedAt: at, ...end })).toBe(expected)
})

test('explains no line of a program', () => {
  const lines = ['', '2026-01-01T00:00:00Z Error: exec format error', `${LINE} exec format error, again\n`]
  expect(lines.map((line) => explainRuntimeLine(line, 'x64'))).toEqual([undefined, undefined, undefined])
})

const ID = '4ee425ed'.repeat(8)
test.each([
  [
    'of a container',
    `6,475,432,-;oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=/docker/${ID},task_memcg=/docker/${ID},task=dd`,
    ID,
  ],
  [
    'with systemd',
    `oom-kill:constraint=CONSTRAINT_MEMCG,task_memcg=/system.slice/docker-${ID}.scope,task=dd`,
    ID,
  ],
  [
    'below the container',
    `oom-kill:constraint=CONSTRAINT_NONE,global_oom,task_memcg=/docker/${ID}/worker,task=dd`,
    ID,
  ],
  ['of an older kernel', `Task in /docker/${ID} killed as a result of limit of /docker/${ID}`, ID],
  [
    'of another process',
    `oom-kill:constraint=CONSTRAINT_NONE,global_oom,task_memcg=/user.slice,task=dd`,
    undefined,
  ],
  ['that only names its limit', `oom-kill:oom_memcg=/docker/${ID},task_memcg=/user.slice,task=dd`, undefined],
])('finds the victim in a line of the kernel %s', (_, line, expected) => {
  expect(oomKilledContainer(line)).toBe(expected)
})
