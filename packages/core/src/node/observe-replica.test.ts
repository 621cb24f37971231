// What is said of an assignment: only what was seen, and states that only move on.

import { type Observation, REPLICA_STATES } from '@holdfast/contract'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anItem } from './node-items.fixture.ts'
import { isNews, type ReplicaView, type SeenContainer, sightingOf } from './observe-replica.ts'

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
  making: false,
  trouble: '',
  about: '',
  unjudged: false,
  readySince: undefined,
  ...over,
})
const say = (over: Partial<ReplicaView>, before?: Observation) => {
  const said = sightingOf(view(over), before)
  return said && `${said.state} ${said.reason}`.trim() + (said.gone ? ' gone' : '')
}
const observed = (state: Observation['state']): Observation => {
  const said = sightingOf(view(), undefined)
  if (said === undefined) throw new Error('nothing said')
  return { ...said, state, seq: 1 }
}

describe('what was seen', () => {
  const removed = anItem('A', 'removed')
  const rows: readonly [string, Partial<ReplicaView>, string | undefined][] = [
    ['nothing yet', { container: 'unknown' }, undefined],
    ['nothing yet of what is to go', { container: 'unknown', item: removed }, undefined],
    ['no container, one to come', { container: 'absent' }, undefined],
    ['a pull', { container: 'absent', activity: 'pulling' }, 'pulling'],
    ['a failed pull', { container: 'absent', trouble: 'image_pull_failed' }, 'pulling image_pull_failed'],
    ['a create', { container: 'absent', activity: 'starting' }, 'starting'],
    ['a failed create', { container: 'absent', trouble: 'create_failed' }, 'starting create_failed'],
    [
      'an item that the agent refuses',
      { container: 'absent', trouble: 'refused_by_agent' },
      'failed refused_by_agent',
    ],
    ['none at the last list, one may come', { container: 'absent', making: true, item: removed }, undefined],
    ['none and none to come', { container: 'absent', item: removed }, 'stopped gone'],
    [
      'none to come, and none could be made',
      { container: 'absent', item: removed, trouble: 'image_pull_failed' },
      'stopped gone',
    ],
    ['none, wished stopped', { container: 'absent', item: anItem('A', 'stopped') }, 'stopped'],
    ['it runs', {}, 'running'],
    ['it runs, found at the start', { unjudged: true }, undefined],
    ['it is ready', { readySince: 't1' }, 'ready'],
    ['it was ready in its last life', { readySince: 't0' }, 'running'],
    ['its check fails', { readySince: 't1', container: { ...seen, health: 'unhealthy' } }, 'ready unhealthy'],
    ['it is stopped by us', { activity: 'stopping' }, 'stopping'],
    ['it restarts', { container: { ...seen, state: 'restarting' } }, 'running exited'],
    ['it ended', { container: { ...seen, state: 'exited' } }, 'starting exited'],
    [
      'it ended as wished',
      { container: { ...seen, state: 'exited' }, item: anItem('A', 'stopped') },
      'stopped',
    ],
    ['it runs though it is to go', { item: removed }, 'running'],
  ]
  test.each(rows)('%s', (_, over, expected) => {
    expect(say(over)).toBe(expected)
  })
})

test('a replica that was ready says by its reason that it is not', () => {
  expect(say({}, observed('ready'))).toBe('ready not_ready')
  expect(say({ container: { ...seen, state: 'exited' } }, observed('ready'))).toBe('ready exited')
  expect(say({ readySince: 't1' }, observed('ready'))).toBe('ready')
})

test('which secret is not to be had is said while that is the trouble, and what one was made with always', () => {
  const waiting = { container: 'absent', trouble: 'secret_unresolved', about: 'DB: denied' } as const
  const sight = (over: Partial<ReplicaView>) => sightingOf(view({ ...waiting, ...over }), undefined)
  const said = sight({})
  const other = sight({ about: 'DB: missing' })
  if (said === undefined || other === undefined) throw new Error('nothing said')
  expect(said).toMatchObject({
    state: 'starting',
    reason: 'secret_unresolved',
    about: 'DB: denied',
    gone: false,
  })
  expect([isNews({ ...said, seq: 1 }, other), isNews({ ...said, seq: 1 }, said)]).toEqual([true, false])
  expect(sight({ trouble: 'create_failed' })).not.toHaveProperty('about')
  expect(sight({ item: anItem('A', 'removed') })).toMatchObject({ state: 'stopped', reason: '', gone: true })
  expect(sight({ container: { ...seen, proof: 'p1' } })).toMatchObject({ proof: 'p1' })
  expect(sight({ container: seen })).not.toHaveProperty('proof')
})

test('states never move back, and the same is not said twice', () => {
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
      }),
    ),
    activity: fc.constantFrom(undefined, 'pulling', 'starting', 'stopping'),
    making: fc.boolean(),
    trouble: fc.constantFrom('', 'create_failed', 'image_pull_failed', 'secret_unresolved'),
    about: fc.constantFrom('', 'DB: denied', 'DB: missing'),
    unjudged: fc.boolean(),
    readySince: fc.constantFrom(undefined, 't1', 't2'),
  })
  fc.assert(
    fc.property(fc.array(views, { maxLength: 12 }), (sequence) => {
      let before: Observation | undefined
      for (const one of sequence) {
        const said = sightingOf(one, before)
        if (said === undefined) continue
        const now = { ...said, seq: 1 }
        if (before !== undefined)
          expect(REPLICA_STATES.indexOf(now.state)).toBeGreaterThanOrEqual(
            REPLICA_STATES.indexOf(before.state),
          )
        expect(isNews(now, said)).toBe(false)
        if (said.gone) expect([one.container, one.making]).toEqual(['absent', false])
        // The agent ends only what is not wished: an end that is said is one that stays.
        if (one.item.desired === 'running' && one.activity !== 'stopping' && before === undefined)
          expect(['stopping', 'stopped']).not.toContain(now.state)
        before = now
      }
    }),
  )
})
