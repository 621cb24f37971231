// The small parts of the agent that need no engine: bounded work, waits, the command line.

import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createLimit } from '../converge/limit.ts'
import { createRetryBackoff, environmentDelay, retryDelay } from '../converge/retry-backoff.ts'
import { desiredItem } from '../fixtures/agent.fixture.ts'
import { readCommandLine } from './command-line.ts'

const IMAGE = `registry.example.com/web@sha256:${'a'.repeat(64)}`

test('no more work at once than allowed, in order, and a failure frees its place', async () => {
  const limit = createLimit(2)
  const log: string[] = []
  let running = 0
  let most = 0
  const work = (name: string, fails: boolean) =>
    limit(async () => {
      running += 1
      most = Math.max(most, running)
      log.push(name)
      await turn()
      running -= 1
      if (fails) throw new Error(name)
    }).catch(() => {})
  await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => work(name, name === 'b')))
  expect([most, running, log.join('')]).toEqual([2, 0, 'abcde'])
})

test('a failed assignment waits longer each time, not at all for another wish, and for good after a final no', () => {
  const item = desiredItem(IMAGE)
  const desired = new Map([[item.assignmentId, item]])
  let now = 0
  const setbacks = createRetryBackoff(
    desired,
    () => now,
    () => 0.5,
  )
  expect([setbacks.note(item.assignmentId, 'other'), setbacks.note(item.assignmentId, 'other')]).toEqual([
    500, 1000,
  ])
  now = 999
  expect([setbacks.waiting(), setbacks.soonestMs()]).toEqual([[item.assignmentId], 1])
  now = 1000
  expect([setbacks.waiting(), setbacks.soonestMs()]).toEqual([[], Number.POSITIVE_INFINITY])
  setbacks.note(item.assignmentId, 'final')
  now = Number.MAX_SAFE_INTEGER
  expect(setbacks.waiting()).toEqual([item.assignmentId])
  desired.set(item.assignmentId, { ...item, desired: 'removed' })
  expect(setbacks.waiting()).toEqual([])
  expect([retryDelay(30, 0), retryDelay(30, 1)]).toEqual([45_000, 75_000])
})

test('whoever waits for an environment asks again after 5 s, then 10, 20 and at most 30, each time a little earlier', () => {
  const item = desiredItem(IMAGE)
  const setbacks = createRetryBackoff(
    new Map([[item.assignmentId, item]]),
    () => 0,
    () => 1,
  )
  const note = (kind: 'environment' | 'other') => setbacks.note(item.assignmentId, kind)
  expect(Array.from({ length: 5 }, () => note('environment'))).toEqual([5000, 10_000, 20_000, 30_000, 30_000])
  // What stood in the way before has no part in it.
  expect([note('other'), note('environment')]).toEqual([625, 5000])
  expect([environmentDelay(1, 0), environmentDelay(9, 0)]).toEqual([3750, 22_500])
})

const ENROLL = ['enroll', '--server', 'https://h', '--name', 'n1', '--token', 't']

test.each([
  [['run'], { command: 'run', state: '/var/lib/holdfast-agent' }],
  [['run', '--state', '/s'], { command: 'run', state: '/s' }],
  [['run'], { routing: { caddy: { listen: [':80'], tls: { mode: 'off' } }, peerAddress: undefined } }],
  [
    [
      'run',
      '--routes-tls',
      'internal',
      '--peer-address',
      '10.0.0.1:8081',
      '--caddy-config',
      '/c/config.json',
    ],
    {
      routing: {
        caddy: { listen: [':80', ':443'], peerListen: ':8081', upstreamsFolder: '/c/leads' },
        peerAddress: '10.0.0.1:8081',
      },
    },
  ],
  [
    ['run', '--routes-tls', 'acme', '--acme-email', 'a@b.test'],
    { routing: { caddy: { tls: { mode: 'acme', email: 'a@b.test' } } } },
  ],
  [
    ENROLL,
    { command: 'enroll', server: 'https://h', name: 'n1', token: 't', engine: 'unix:///var/run/docker.sock' },
  ],
  [[...ENROLL, '--label', 'a=b', '--label', 'c=d=e'], { labels: { a: 'b', c: 'd=e' } }],
  [
    ['run', '--label', 'holdfast.io/country=DE', '--label', 'c=d=e'],
    { labels: { 'holdfast.io/country': 'DE', c: 'd=e' } },
  ],
  [['run', '--state', '/s'], { labels: undefined, state: '/s' }],
  [['run', '--labels', 'none'], { labels: {} }],
  [
    [...ENROLL, '--cpu-millis', '500', '--memory-bytes', '1024'],
    { capacity: { cpuMillis: 500, memoryBytes: 1024 } },
  ],
])('%j is understood', (words, expected) => {
  expect(readCommandLine(words, {})).toMatchObject(expected)
})

test.each([
  [[], 'no command ""'],
  [['runs'], 'no command "runs"'],
  [['run', '--token', 't'], 'run has no option --token'],
  [['run', '--state'], '--state has no value'],
  [['run', '--label', 'a'], '--label a: accepted is KEY=VALUE'],
  [['run', '--labels', 'all'], '--labels all: accepted is none'],
  [['run', '--labels', 'none', '--label', 'a=b'], '--labels none and --label'],
  [[...ENROLL, '--labels', 'none'], 'no option --labels. Did you mean --label?'],
  [['run', '--routes-listen', '80'], '--routes-listen 80: accepted is HOST:PORT'],
  [['run', '--routes-listen', ':80,:99999'], '--routes-listen :99999:'],
  [['run', '--routes-tls', 'on'], '--routes-tls on: accepted is off, internal or acme'],
  [['run', '--acme-email', 'a@b.test'], 'go with --routes-tls acme'],
  [['run', '--routes-tls', 'acme', '--acme-directory', 'here'], '--acme-directory here:'],
  [['run', '--peer-address', ':8081'], '--peer-address :8081: accepted is a host'],
  [['run', '--peer-address', '10.0.0.1'], '--peer-address 10.0.0.1: accepted is HOST:PORT'],
  [['run', '--peer-address', '10.0.0.1:80'], 'Port 80 is for other nodes'],
  [['run', '--peer-listen', 'x'], '--peer-listen x:'],
  [[...ENROLL, '--routes-tls', 'off'], 'enroll has no option --routes-tls'],
  [['enroll', '--server', 'https://h', '--name', 'n1'], 'enroll needs --token'],
  [['enroll', '--server', 'h', '--name', 'n1', '--token', 't'], '--server h: accepted is an address'],
  [[...ENROLL, '--name', 'n2'], '--name is given twice'],
  [[...ENROLL, '--label', 'a'], '--label a:'],
  [[...ENROLL, '--engine', 'tcp://1.2.3.4'], '--engine tcp://1.2.3.4: accepted is unix://'],
  [[...ENROLL, '--cpu-millis', '500'], 'both or neither'],
  [[...ENROLL, '--cpu-millis', '0', '--memory-bytes', '1'], '--cpu-millis 0: accepted is a whole number'],
  [[...ENROLL, '--loud', 'x'], 'enroll has no option --loud'],
])('%j is not, and it is said why: %s', (words, why) => {
  expect(() => readCommandLine(words, {})).toThrow(why)
})

test('what may be a token is not repeated', () => {
  const words = ['enroll', '--name', 'n1', 'hfj_a-token-without-its-option']
  expect(() => readCommandLine(words, {})).toThrow(
    /^enroll takes options with two dashes, each with a value\.$/,
  )
})

test('the token may come from the environment', () => {
  const words = ENROLL.slice(0, 5)
  expect(readCommandLine(words, { HOLDFAST_JOIN_TOKEN: 'e' })).toMatchObject({ token: 'e' })
})
