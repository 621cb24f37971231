// Tests that the agent derives observations only from the engine's reports, and that a replica's state never goes back.

import { asVolumeId, type Observation, REPLICA_STATES } from '@holdfast/contract'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anItem } from './node-items.fixture.ts'
import { hasChanged, isUp, observeReplica, type ReplicaView, type SeenContainer } from './observe-replica.ts'

const seen: SeenContainer = {
  id: 'c',
  state: 'running',
  startedAt: 't1',
  exitCode: null,
  restarts: 0,
  health: 'none',
  address: null,
}
const view = (over: Partial<ReplicaView> = {}): ReplicaView => ({
  item: anItem('A'),
  container: seen,
  activity: undefined,
  creating: false,
  trouble: '',
  about: '',
  cause: '',
  unverified: false,
  readySince: undefined,
  ...over,
})
const summary = (over: Partial<ReplicaView>, before?: Observation) => {
  const observation = observeReplica(view(over), before)
  return (
    observation && `${observation.state} ${observation.reason}`.trim() + (observation.gone ? ' gone' : '')
  )
}
const observed = (state: Observation['state']): Observation => {
  const observation = observeReplica(view(), undefined)
  if (observation === undefined) throw new Error('no observation')
  return { ...observation, state, seq: 1 }
}

describe('the observation of a container that runs once and', () => {
  const plain = anItem('A')
  const item = { ...plain, template: { ...plain.template, runs: 'once' as const } }
  const stopped = { ...item, desired: 'stopped' as const }
  const exited = { ...seen, state: 'exited' as const }
  const rows: readonly [string, Partial<ReplicaView>, string | undefined][] = [
    ['runs', {}, 'running'],
    ['ended well', { container: { ...exited, exitCode: 0 } }, 'stopped'],
    ['ended badly', { container: { ...exited, exitCode: 3 } }, 'stopped exited'],
    ['was stopped', { container: { ...exited, exitCode: 143 }, item: stopped }, 'stopped'],
    [
      'ended without an engine that saw it',
      { container: { ...exited, isEndUnknown: true } },
      'stopped container_lost',
    ],
    [
      'was to be stopped and ended without an engine that saw it',
      { container: { ...exited, isEndUnknown: true }, item: stopped },
      'stopped container_lost',
    ],
    ['is being removed by another program', { container: { ...seen, state: 'removing' } }, undefined],
    ['was removed by another program', { container: 'absent', hasRun: true }, 'stopped container_lost'],
    ['is being created', { container: 'absent', hasRun: true, creating: true }, undefined],
    ['was not created yet', { container: 'absent' }, undefined],
    ['is gone', { container: 'absent', hasRun: true, item: { ...item, desired: 'removed' } }, 'stopped gone'],
  ]
  test.each(rows)('%s', (_about, over, expected) => {
    expect(summary({ item, ...over })).toBe(expected)
  })

  test('whose end was reported stays ended after another program removed it', () => {
    const ended = observeReplica(view({ item, container: { ...exited, exitCode: 3 } }), undefined)
    const before = ended && { ...ended, seq: 1 }
    const after = observeReplica(view({ item: stopped, container: 'absent', hasRun: true }), before)
    expect(after).toMatchObject({ state: 'stopped', reason: 'exited', exitCode: 3 })
    expect(summary({ item, container: 'absent', hasRun: true }, observed('running'))).toBe(
      'stopped container_lost',
    )
  })
})

describe('the observation of', () => {
  const removed = anItem('A', 'removed')
  const rows: readonly [string, Partial<ReplicaView>, string | undefined][] = [
    ['a container before the first list', { container: 'unknown' }, undefined],
    ['a container to remove, before the first list', { container: 'unknown', item: removed }, undefined],
    ['a container not created yet', { container: 'absent' }, undefined],
    ['a pull', { container: 'absent', activity: 'pulling' }, 'pulling'],
    ['a failed pull', { container: 'absent', trouble: 'image_pull_failed' }, 'pulling image_pull_failed'],
    ['a create', { container: 'absent', activity: 'starting' }, 'starting'],
    ['a failed create', { container: 'absent', trouble: 'create_failed' }, 'starting create_failed'],
    [
      'an item that the agent rejects',
      { container: 'absent', trouble: 'refused_by_agent' },
      'failed refused_by_agent',
    ],
    [
      'an item that needs a newer agent',
      { container: 'absent', trouble: 'agent_version', about: 'The agent lacks volumes; upgrade it.' },
      'failed agent_version',
    ],
    ['a container that a newer agent created', { trouble: 'agent_version', readySince: 't1' }, 'ready'],
    [
      'an item to remove while a create may be in progress',
      { container: 'absent', creating: true, item: removed },
      undefined,
    ],
    ['an item to remove without a container', { container: 'absent', item: removed }, 'stopped gone'],
    [
      'an item to remove whose image could not be pulled',
      { container: 'absent', item: removed, trouble: 'image_pull_failed' },
      'stopped gone',
    ],
    ['a stopped item without a container', { container: 'absent', item: anItem('A', 'stopped') }, 'stopped'],
    ['a running container', {}, 'running'],
    ["a running container found at the agent's start", { unverified: true }, undefined],
    ['a ready container', { readySince: 't1' }, 'ready'],
    ['a container that was ready before its restart', { readySince: 't0' }, 'running'],
    [
      'a ready container whose check fails',
      { readySince: 't1', container: { ...seen, health: 'unhealthy' } },
      'ready unhealthy',
    ],
    ['a container that the agent stops', { activity: 'stopping' }, 'stopping'],
    ['a restarting container', { container: { ...seen, state: 'restarting' } }, 'running exited'],
    ['an exited container', { container: { ...seen, state: 'exited' } }, 'starting exited'],
    [
      'an exited container that is desired stopped',
      { container: { ...seen, state: 'exited' }, item: anItem('A', 'stopped') },
      'stopped',
    ],
    ['a running container that is desired removed', { item: removed }, 'running'],
  ]
  test.each(rows)('%s', (_, over, expected) => {
    expect(summary(over)).toBe(expected)
  })
})

test('a replica that stops being ready keeps its state and gets a reason', () => {
  expect(summary({}, observed('ready'))).toBe('ready not_ready')
  expect(summary({ container: { ...seen, state: 'exited' } }, observed('ready'))).toBe('ready exited')
  expect(summary({ readySince: 't1' }, observed('ready'))).toBe('ready')
})

test('reports the unresolved secret while it blocks the create, and the proof of every container', () => {
  const waiting = { container: 'absent', trouble: 'secret_unresolved', about: 'DB: denied' } as const
  const observe = (over: Partial<ReplicaView>) => observeReplica(view({ ...waiting, ...over }), undefined)
  const first = observe({})
  const other = observe({ about: 'DB: missing' })
  if (first === undefined || other === undefined) throw new Error('no observation')
  expect(first).toMatchObject({
    state: 'starting',
    reason: 'secret_unresolved',
    about: 'DB: denied',
    gone: false,
  })
  const before = { ...first, seq: 1 }
  expect([hasChanged(before, other), hasChanged(before, first)]).toEqual([true, false])
  expect(observe({ trouble: 'create_failed' })).not.toHaveProperty('about')
  expect(observe({ item: anItem('A', 'removed') })).toMatchObject({
    state: 'stopped',
    reason: '',
    gone: true,
  })
  expect(observe({ container: { ...seen, proof: 'p1' } })).toMatchObject({ proof: 'p1' })
  expect(observe({ container: seen })).not.toHaveProperty('proof')
})

test('a writer that the fencer killed is reported as fenced, not as exited', () => {
  const volume = asVolumeId('vol_01JCPZ0000000000000000000A')
  const mounts = [{ volume, target: '/data', type: 'volume' as const, readOnly: false }]
  const item = anItem('A')
  const over: Partial<ReplicaView> = {
    item: { ...item, template: { ...item.template, mounts } },
    container: { ...seen, state: 'exited', lastExit: { code: 137, at: 't0' } },
  }
  expect(summary(over)).toBe('running exited')
  const cause = { at: 't0', text: 'the lease ended', isFenced: true }
  expect(summary({ ...over, exitCause: cause })).toBe('running fenced')
  expect(isUp({ state: 'running', reason: 'fenced' })).toBe(false)
  expect(summary({ ...over, exitCause: { ...cause, at: 't' } })).toBe('running exited')
})

describe('the observation explains', () => {
  const exit = { code: 42, at: 't0' }
  const failed = { count: 3, output: 'wget: not found' }
  const probes = { count: 2, output: 'refused', startedAt: 't1' }
  const rows: readonly [string, Partial<ReplicaView>, Partial<Observation>][] = [
    [
      'a failed pull by the error of the engine',
      { container: 'absent', trouble: 'image_pull_failed', cause: 'manifest unknown' },
      { cause: 'manifest unknown' },
    ],
    [
      'a failed create by the error of the engine',
      { container: 'absent', trouble: 'create_failed', cause: 'no space left' },
      { cause: 'no space left' },
    ],
    [
      'a failed start by the error of the engine',
      {
        container: { ...seen, state: 'created', cause: 'older' },
        trouble: 'start_failed',
        cause: 'not found',
      },
      { cause: 'not found' },
    ],
    [
      'a failed restart by the error that the engine kept',
      { container: { ...seen, state: 'exited', lastExit: exit, cause: 'not found' } },
      { lastExit: exit, cause: 'not found' },
    ],
    [
      'a program that cannot be executed, also while it is started again',
      { container: { ...seen, lastExit: exit }, exitCause: { at: 't0', text: 'exec format error' } },
      { lastExit: exit, cause: 'exec format error' },
    ],
    [
      'nothing by the cause of an earlier exit',
      { container: { ...seen, lastExit: exit }, exitCause: { at: 't', text: 'exec format error' } },
      { lastExit: exit },
    ],
    ['a later run by the exit before it', { container: { ...seen, lastExit: exit } }, { lastExit: exit }],
    [
      'failed checks of the engine by the last output',
      { container: { ...seen, health: 'unhealthy', failedChecks: failed } },
      { failedChecks: 3, cause: 'wget: not found' },
    ],
    [
      'failed checks before the first passed one by the last output',
      { container: { ...seen, health: 'starting' }, probes },
      { failedChecks: 2, cause: 'refused' },
    ],
    [
      'failed checks of both by the longer row',
      { container: { ...seen, health: 'unhealthy', failedChecks: failed }, probes },
      { failedChecks: 3, cause: 'wget: not found' },
    ],
    ['nothing by checks of an earlier run', { probes: { ...probes, startedAt: 't0' } }, {}],
    ['nothing by checks before a passed one', { probes, readySince: 't1' }, {}],
    [
      'nothing of a healthy container',
      { container: { ...seen, health: 'healthy', failedChecks: failed } },
      {},
    ],
    ['nothing by an error that is over', { container: 'absent', activity: 'starting', cause: 'old' }, {}],
  ]
  test.each(rows)('%s', (_, over, expected) => {
    const { lastExit, cause, failedChecks } = observeReplica(view(over), undefined) ?? {}
    expect({ lastExit, cause, failedChecks }).toEqual({
      lastExit: undefined,
      cause: undefined,
      failedChecks: undefined,
      ...expected,
    })
  })

  test.each(['lastExit', 'cause', 'failedChecks'] as const)('a change of %s is reported', (member) => {
    const before = observed('running')
    const value = { lastExit: exit, cause: 'refused', failedChecks: 1 }[member]
    expect(hasChanged(before, { ...before, [member]: value })).toBe(true)
  })
})

test('states never move back, and an unchanged state is not reported twice', () => {
  const views = fc.record<ReplicaView>({
    item: fc.constantFrom('running', 'stopped', 'removed').map((desired) => anItem('A', desired)),
    container: fc.oneof(
      fc.constantFrom('unknown', 'absent'),
      fc.record<SeenContainer>({
        id: fc.constant('c'),
        state: fc.constantFrom('created', 'running', 'paused', 'restarting', 'removing', 'exited', 'dead'),
        startedAt: fc.constantFrom('t1', 't2', null),
        exitCode: fc.constantFrom(null, 0, 1),
        restarts: fc.nat({ max: 3 }),
        health: fc.constantFrom('none', 'starting', 'healthy', 'unhealthy'),
        address: fc.constantFrom(null, '10.208.0.2'),
        proof: fc.constantFrom(undefined, 'p1', 'p2'),
        lastExit: fc.constantFrom(undefined, { code: 1, at: 't0' }),
        failedChecks: fc.constantFrom(undefined, { count: 1, output: 'refused' }),
        cause: fc.constantFrom(undefined, 'exec format error'),
      }),
    ),
    activity: fc.constantFrom(undefined, 'pulling', 'starting', 'stopping'),
    creating: fc.boolean(),
    trouble: fc.constantFrom('', 'create_failed', 'image_pull_failed', 'secret_unresolved'),
    about: fc.constantFrom('', 'DB: denied', 'DB: missing'),
    cause: fc.constantFrom('', 'no space left'),
    probes: fc.constantFrom(undefined, { count: 2, output: 'refused', startedAt: 't1' }),
    unverified: fc.boolean(),
    readySince: fc.constantFrom(undefined, 't1', 't2'),
  })
  fc.assert(
    fc.property(fc.array(views, { maxLength: 12 }), (sequence) => {
      let before: Observation | undefined
      for (const one of sequence) {
        const observation = observeReplica(one, before)
        if (observation === undefined) continue
        const now = { ...observation, seq: 1 }
        if (before !== undefined)
          expect(REPLICA_STATES.indexOf(now.state)).toBeGreaterThanOrEqual(
            REPLICA_STATES.indexOf(before.state),
          )
        expect(hasChanged(now, observation)).toBe(false)
        if (observation.gone) expect([one.container, one.creating]).toEqual(['absent', false])
        // The first report never states that a desired replica ends, because the server would treat the end as final.
        if (one.item.desired === 'running' && one.activity !== 'stopping' && before === undefined)
          expect(['stopping', 'stopped']).not.toContain(now.state)
        before = now
      }
    }),
  )
})

test('attempts that the engine refused count as restarts, and others do not', () => {
  const restartsOf = (over: Partial<ReplicaView>) => observeReplica(view(over), undefined)?.restarts
  const created = { ...seen, state: 'created', startedAt: null } as const
  expect(restartsOf({ container: created, trouble: 'start_failed', attempts: 3 })).toBe(3)
  expect(restartsOf({ container: 'absent', trouble: 'create_failed', attempts: 2 })).toBe(2)
  expect(restartsOf({ container: 'absent', trouble: 'image_pull_failed', attempts: 2 })).toBe(0)
})

test.each<[Observation['state'], string, boolean]>([
  ['assigned', '', false],
  ['starting', 'exited', false],
  ['running', '', true],
  ['running', 'exited', false],
  ['running', 'start_failed', false],
  ['ready', '', true],
  ['ready', 'unhealthy', true],
  ['ready', 'paused', true],
  ['ready', 'exited', false],
  ['ready', 'removed', false],
  ['stopping', '', true],
  ['stopped', '', false],
  ['failed', 'refused_by_agent', false],
])('a container of a replica that is %s (%s) is up: %s', (state, reason, expected) => {
  expect(isUp({ state, reason })).toBe(expected)
})
