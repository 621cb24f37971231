// Small parts of the agent that need no engine: the concurrency limit, backoff and the command line.

import { setImmediate as turn } from 'node:timers/promises'
import { observeReplica } from '@holdfast/core/node'
import { expect, test } from 'vitest'
import { readCommandLine } from './command/command-line.ts'
import { ActionError, failAs } from './converge/action-error.ts'
import { createLimit } from './converge/limit.ts'
import { createRetryBackoff, environmentDelay, retryDelay } from './converge/retry-backoff.ts'
import { failureKind } from './converge/workers.ts'
import { desiredItem } from './fixtures/agent.fixture.ts'
import { EngineError, type EngineFault } from './ports/engine.ts'

const IMAGE = `registry.example.com/web@sha256:${'a'.repeat(64)}`

test('runs no more tasks at once than allowed, in order, also after a failure', async () => {
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

test('backs off longer after each failure, until the desired state changes, and never retries a final failure', () => {
  const item = desiredItem(IMAGE)
  const desired = new Map([[item.assignmentId, item]])
  let now = 0
  const backoff = createRetryBackoff(
    desired,
    () => now,
    () => 0.5,
  )
  expect([
    backoff.recordFailure(item.assignmentId, 'other'),
    backoff.recordFailure(item.assignmentId, 'other'),
  ]).toEqual([500, 1000])
  now = 999
  expect([backoff.waiting(), backoff.soonestMs()]).toEqual([[item.assignmentId], 1])
  now = 1000
  expect([backoff.waiting(), backoff.soonestMs()]).toEqual([[], Number.POSITIVE_INFINITY])
  backoff.recordFailure(item.assignmentId, 'final')
  now = Number.MAX_SAFE_INTEGER
  expect(backoff.waiting()).toEqual([item.assignmentId])
  desired.set(item.assignmentId, { ...item, desired: 'removed' })
  expect(backoff.waiting()).toEqual([])
  expect([retryDelay(30, 0), retryDelay(30, 1)]).toEqual([45_000, 75_000])
})

test('retries an unavailable environment after 5, 10, 20 and at most 30 seconds, each slightly earlier', () => {
  const item = desiredItem(IMAGE)
  const backoff = createRetryBackoff(
    new Map([[item.assignmentId, item]]),
    () => 0,
    () => 1,
  )
  const note = (kind: 'environment' | 'other') => backoff.recordFailure(item.assignmentId, kind)
  expect(Array.from({ length: 5 }, () => note('environment'))).toEqual([5000, 10_000, 20_000, 30_000, 30_000])
  // Failures of different kinds are counted separately.
  expect([note('other'), note('environment')]).toEqual([625, 5000])
  expect([environmentDelay(1, 0), environmentDelay(9, 0)]).toEqual([3750, 22_500])
})

test('counts a start that the engine refused, but not the engine that did not answer before', async () => {
  const item = desiredItem(IMAGE)
  const desired = new Map([[item.assignmentId, item]])
  const backoff = createRetryBackoff(
    desired,
    () => 0,
    () => 0,
  )
  const failWith = async (fault: EngineFault): Promise<number> => {
    const failed = failAs('start_failed', Promise.reject(new EngineError(fault, 'no')))
    const error: unknown = await failed.catch((thrown: unknown) => thrown)
    backoff.recordFailure(item.assignmentId, failureKind(error))
    return error instanceof ActionError ? backoff.failuresOf(item.assignmentId) : 0
  }
  const faults = ['unavailable', 'timeout', 'failed', 'failed'] as const
  const counted: number[] = []
  for (const fault of faults) counted.push(await failWith(fault))
  expect(counted).toEqual([0, 0, 1, 2])
})

test('three failures of the node are counted apart from those of the container, and reported', () => {
  const item = desiredItem(IMAGE)
  const refused = new ActionError('start_failed', new EngineError('refused', 'exec: "x": not found'))
  const unable = new ActionError('start_failed', new EngineError('failed', 'failed to create endpoint'))
  expect([refused, unable].map(failureKind)).toEqual(['other', 'node'])
  expect(failureKind(new ActionError('network_failed', new Error('no free address')))).toBe('node')
  const view = { item, container: 'absent' as const, activity: undefined, creating: false, unverified: false }
  const failed = { ...view, trouble: 'network_failed', about: '', cause: 'no', readySince: undefined }
  const observed = (attempts: number, isOfNode: boolean) =>
    observeReplica({ ...failed, attempts, isOfNode }, undefined)?.nodeFailures
  expect([observed(1, true), observed(9, true), observed(9, false)]).toEqual([1, 3, undefined])
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
        caddy: {
          listen: [':80', ':443'],
          peerListen: ':8081',
          securePeerListen: undefined,
          upstreamsFolder: '/c/upstreams',
        },
        peerAddress: '10.0.0.1:8081',
        securePeerAddress: undefined,
      },
    },
  ],
  [
    ['run', '--peer-address', 'n:1', '--peer-listen', '10.0.0.1:2', '--secure-peer-address', 'm:3'],
    { routing: { caddy: { securePeerListen: '10.0.0.1:3' }, securePeerAddress: 'm:3' } },
  ],
  [
    ['run', '--peer-address', 'n:1', '--secure-peer-address', '[::1]:3', '--secure-peer-listen', ':4'],
    { routing: { caddy: { securePeerListen: ':4' }, securePeerAddress: '[::1]:3' } },
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
  [['run'], { pool: undefined, cgroup: undefined, fencer: undefined }],
  [ENROLL, { start: undefined }],
  [[...ENROLL, '--start'], { start: [] }],
  [
    [...ENROLL, '--start', '--label', 'a=b', '--peer-address', '10.0.0.1:8081', '--pool', '/p.img:1Gi'],
    { labels: { a: 'b' }, start: ['--pool', '/p.img:1Gi', '--peer-address', '10.0.0.1:8081'] },
  ],
  [['run', '--fencer', '/run/f'], { fencer: '/run/f' }],
  [['run', '--cgroup', 'lab-1/node.2'], { cgroup: 'lab-1/node.2' }],
  [['run', '--pool', '/srv/pool'], { pool: { path: '/srv/pool', sizeBytes: undefined } }],
  [['run', '--pool', '/srv/a:b'], { pool: { path: '/srv/a:b', sizeBytes: undefined } }],
  [['run', '--pool', '/p.img:200Mi'], { pool: { path: '/p.img', sizeBytes: 200 * 1024 ** 2 } }],
  [['run'], { peers: undefined, promiseLeaseMs: undefined }],
  [['run', '--promise-lease', '1.5'], { promiseLeaseMs: 1_500 }],
  [
    ['run', '--agent-peer-address', 'n1.example'],
    { peers: { address: 'n1.example:7844', host: undefined, port: 7844, bytesPerSecond: 100 * 1024 ** 2 } },
  ],
  [
    [
      'run',
      '--agent-peer-address',
      '[fd00::1]:99',
      '--agent-peer-listen',
      '10.0.0.1:98',
      '--replication-rate',
      '1Mi',
    ],
    { peers: { address: '[fd00::1]:99', host: '10.0.0.1', port: 98, bytesPerSecond: 1024 ** 2 } },
  ],
  [['run', '--pool', '/p.img:200000000'], { pool: { path: '/p.img', sizeBytes: 200_000_000 } }],
])('accepts %j', (words, expected) => {
  expect(readCommandLine(words, {})).toMatchObject(expected)
})

test.each([
  [[], 'Unknown command ""'],
  [['run', '--agent-peer-address', ':7844'], '--agent-peer-address'],
  [['run', '--agent-peer-address', 'n1:0'], '--agent-peer-address n1:0'],
  [['run', '--agent-peer-listen', ':7844'], '--agent-peer-address'],
  [['run', '--agent-peer-address', 'n1', '--replication-rate', 'fast'], '--replication-rate fast'],
  [['run', '--promise-lease', '0.999'], '--promise-lease 0.999'],
  [['run', '--promise-lease', '61'], '--promise-lease 61'],
  [['run', '--promise-lease', '1e1'], '--promise-lease 1e1'],
  [['runs'], 'Unknown command "runs"'],
  [['run', '--token', 't'], 'run has no option --token'],
  [['run', '--state'], '--state has no value'],
  [['run', '--label', 'a'], '--label a: accepted is KEY=VALUE'],
  [['run', '--labels', 'all'], '--labels all: accepted is none'],
  [['run', '--labels', 'none', '--label', 'a=b'], '--labels none and --label'],
  [[...ENROLL, '--labels', 'none'], 'no option --labels. Did you mean --label?'],
  [[...ENROLL, '--start', '--pool', 'p'], '--pool p: accepted is the absolute path'],
  [[...ENROLL, '--start', '--pool', '/a b'], '--pool /a b: accepted after --start are letters'],
  [[...ENROLL, '--start', '--state', '/s'], '--start: the unit uses /var/lib/holdfast-agent'],
  [['run', '--start'], 'run has no option --start'],
  [['run', '--routes-listen', '80'], '--routes-listen 80: accepted is HOST:PORT'],
  [['run', '--routes-listen', ':80,:99999'], '--routes-listen :99999:'],
  [['run', '--routes-tls', 'on'], '--routes-tls on: accepted is off, internal or acme'],
  [['run', '--acme-email', 'a@b.test'], 'go with --routes-tls acme'],
  [['run', '--routes-tls', 'acme', '--acme-directory', 'here'], '--acme-directory here:'],
  [['run', '--peer-address', ':8081'], '--peer-address :8081: accepted is a host'],
  [['run', '--peer-address', '10.0.0.1'], '--peer-address 10.0.0.1: accepted is HOST:PORT'],
  [['run', '--peer-address', '10.0.0.1:80'], 'Port 80 is for other nodes'],
  [['run', '--peer-listen', 'x'], '--peer-listen x:'],
  [
    ['run', '--peer-address', 'n:1', '--secure-peer-address', ':2'],
    '--secure-peer-address :2: accepted is a',
  ],
  [['run', '--secure-peer-address', 'n:1'], 'Mutual TLS needs --peer-address'],
  [['run', '--peer-address', 'n:1', '--secure-peer-listen', ':1'], 'Mutual TLS needs --peer-address'],
  [['run', '--peer-address', 'n:1', '--secure-peer-address', 'n:1'], 'Port 1 is for other nodes by TLS'],
  [['run', '--peer-address', 'n:1', '--secure-peer-address', 'n:80'], 'Port 80 is for other nodes by TLS'],
  [
    ['run', '--peer-address', 'n:1', '--secure-peer-address', 'm:3', '--secure-peer-listen', 'x'],
    '--secure-peer-listen x:',
  ],
  [['run', '--fencer', 'f'], '--fencer f: accepted is the absolute path'],
  [['run', '--pool', 'pool.img:1Gi'], '--pool pool.img:1Gi: accepted is the absolute path'],
  [['run', '--pool', '/pool.img:127Mi'], '--pool /pool.img:127Mi: accepted'],
  [['run', '--pool', '/pool.img:9999999999Ti'], '--pool /pool.img:9999999999Ti: accepted'],
  [['run', '--cgroup', '/a'], '--cgroup /a: accepted'],
  [['run', '--cgroup', 'a--b'], '--cgroup a--b: systemd'],
  [['run', '--cgroup', 'a-'], '--cgroup a-: systemd'],
  [['run', '--cgroup', 'a/../b'], '--cgroup a/../b: accepted'],
  [[...ENROLL, '--pool', '/srv'], '--pool is an option of run; enroll accepts it after --start'],
  [[...ENROLL, '--routes-tls', 'off'], '--routes-tls is an option of run; enroll accepts it after --start'],
  [['enroll', '--server', 'https://h', '--name', 'n1'], 'enroll needs --token'],
  [['enroll', '--server', 'h', '--name', 'n1', '--token', 't'], '--server h: accepted is an address'],
  [[...ENROLL, '--name', 'n2'], '--name is given twice'],
  [[...ENROLL, '--label', 'a'], '--label a:'],
  [[...ENROLL, '--engine', 'tcp://1.2.3.4'], '--engine tcp://1.2.3.4: accepted is unix://'],
  [[...ENROLL, '--cpu-millis', '500'], 'both or neither'],
  [[...ENROLL, '--cpu-millis', '0', '--memory-bytes', '1'], '--cpu-millis 0: accepted is a whole number'],
  [[...ENROLL, '--loud', 'x'], 'enroll has no option --loud'],
])('rejects %j: %s', (words, why) => {
  expect(() => readCommandLine(words, {})).toThrow(why)
})

test('does not repeat a word that may be a token', () => {
  const words = ['enroll', '--name', 'n1', 'hfj_a-token-without-its-option']
  expect(() => readCommandLine(words, {})).toThrow(
    /^enroll takes options with two dashes, each with a value\.$/,
  )
})

test('reads the join token from the environment', () => {
  const words = ENROLL.slice(0, 5)
  expect(readCommandLine(words, { HOLDFAST_JOIN_TOKEN: 'e' })).toMatchObject({ token: 'e' })
})
