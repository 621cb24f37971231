import type { NodeId } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import {
  aWorld,
  commit,
  DEADLINE_MS,
  decide,
  obey,
  planOf,
  put,
  running,
  see,
  settle,
  WATCH_MS,
  type World,
} from './plan-rollout.fixture.ts'

const hashes = (world: World) =>
  running(world)
    .toSorted((one, other) => one.replica - other.replica)
    .map(({ replica, templateHash }) => `${replica} ${templateHash}`)
const all = (hash: string, count = 3) => Array.from({ length: count }, (_, at) => `${at + 1} ${hash}`)
/** Three replicas of template `one`, which have run through their watch. */
function aGoodWorld(changes: Parameters<typeof aWorld>[0] = {}): World {
  const world = aWorld(changes)
  settle(world)
  return world
}
const obeyAll = (world: World) => world.placed.assignments.filter((each) => obey(world, each)).length
const step = (world: World) => {
  decide(world)
  obeyAll(world)
}

describe('a first revision', () => {
  test('is good once all replicas were ready for the time of the watch', () => {
    const world = aWorld()
    expect(decide(world)).toHaveLength(3)
    expect(world.placed.rollout).toMatchObject({ revision: 1, state: 'progressing', replaces: false })
    obeyAll(world)
    world.now += 1_000
    decide(world)
    expect(planOf(world)).toMatchObject({ lookAgainAt: world.now + WATCH_MS, lastGood: undefined })
    world.now += WATCH_MS
    decide(world)
    expect(world.placed).toMatchObject({ lastGood: { revision: 1, templateHash: 'one' }, rollout: undefined })
  })

  test('notes no progress before all are ready: no write for each', () => {
    const world = aWorld()
    const [one] = decide(world)
    const before = world.placed.rollout
    if (one !== undefined) obey(world, one)
    expect(planOf(world).rollout).toBe(before)
  })

  test('never fails: there is nothing to go back to', () => {
    const world = aWorld({ target: { revision: 1, templateHash: 'broken' } })
    step(world)
    world.now += DEADLINE_MS * 10
    decide(world)
    expect(world.placed.rollout?.failure).toBeUndefined()
    expect(hashes(world)).toEqual(all('broken'))
  })

  test('of no replica at all is no rollout', () => {
    const world = aWorld({ replicas: 0 })
    decide(world)
    expect(world.placed).toMatchObject({ assignments: [], rollout: undefined, lastGood: undefined })
  })
})

describe('another template', () => {
  test('replaces one after the other, and is good after the watch', () => {
    const world = aGoodWorld()
    put(world, 'two')
    const seen: string[] = []
    for (let turn = 0; turn < 8; turn += 1) {
      step(world)
      seen.push(hashes(world).join(', '))
    }
    expect([...new Set(seen)]).toEqual([
      '1 one, 1 two, 2 one, 3 one',
      '1 two, 2 one, 2 two, 3 one',
      '1 two, 2 two, 3 one, 3 two',
      '1 two, 2 two, 3 two',
    ])
    settle(world)
    expect(world.placed).toMatchObject({ lastGood: { revision: 2, templateHash: 'two' }, rollout: undefined })
  })

  test('of more or fewer replicas only restarts nothing', () => {
    const world = aGoodWorld()
    const before = running(world)
    put(world, 'one', { replicas: 5 })
    settle(world)
    expect(running(world).slice(0, 3)).toEqual(before)
    put(world, 'one', { replicas: 2 })
    settle(world)
    expect(running(world)).toEqual(before.slice(0, 2))
    expect(world.placed.lastGood).toEqual({ revision: 3, templateHash: 'one' })
  })

  test('a scale-up on the way makes replicas of the new one', () => {
    const world = aGoodWorld()
    put(world, 'two')
    step(world)
    const before = world.placed.rollout
    world.now += 1_000
    put(world, 'two', { replicas: 5 })
    decide(world)
    expect(world.placed.rollout?.startedAt).toBe(before?.startedAt)
    expect(hashes(world)).toEqual(['1 two', '2 one', '2 two', '3 one', '4 two', '5 two'])
    expect(world.placed.rollout).toMatchObject({ revision: 3, ready: 1 })
  })

  test('is superseded by the next: what was not ready goes at once, what serves stays', () => {
    const world = aGoodWorld()
    put(world, 'two')
    step(world)
    decide(world)
    expect(hashes(world)).toEqual(['1 two', '2 one', '2 two', '3 one'])
    put(world, 'three')
    decide(world)
    expect(hashes(world)).toEqual(['1 two', '1 three', '2 one', '3 one'])
    expect(world.placed.rollout).toMatchObject({ revision: 3, templateHash: 'three' })
    settle(world)
    expect(hashes(world)).toEqual(all('three'))
  })

  test('taken back on the way ends where it began', () => {
    const world = aGoodWorld()
    const before = running(world)
    put(world, 'two')
    decide(world)
    put(world, 'one')
    settle(world)
    expect(running(world)).toEqual(before)
    expect(world.placed).toMatchObject({ lastGood: { revision: 3, templateHash: 'one' }, rollout: undefined })
  })
})

describe('a failure', () => {
  const failing = (changes: Parameters<typeof aWorld>[0] = {}) => {
    const world = aGoodWorld(changes)
    put(world, 'two')
    step(world)
    const [next] = decide(world)
    if (next === undefined) throw new Error('the second successor')
    return { world, next }
  }

  test.each([
    ['unhealthy', { state: 'running', reason: 'unhealthy' } as const, 'unhealthy'],
    ['a third exit', { state: 'running', reason: 'exited', restarts: 3 } as const, 'exited'],
    ['what the agent refuses', { state: 'failed', reason: 'refused_by_agent' } as const, 'refused_by_agent'],
  ])('by %s goes back to what ran well', (_what, seen, reason) => {
    const { world, next } = failing()
    see(world, next, seen)
    decide(world)
    const { replica, nodeId } = next
    expect(world.placed.rollout).toMatchObject({
      state: 'rolling_back',
      failure: { reason, replica, nodeId },
    })
    // Number 1, which was replaced, goes back with the same gates; the one that failed goes at once.
    expect(hashes(world)).toEqual(['1 two', '1 one', '2 one', '3 one'])
    settle(world)
    expect(hashes(world)).toEqual(all('one'))
    expect(world.placed.rollout?.state).toBe('rolling_back')
    expect(world.placed.lastGood).toEqual({ revision: 1, templateHash: 'one' })
  })

  test('two exits are none', () => {
    const { world, next } = failing()
    see(world, next, { state: 'running', reason: 'exited', restarts: 2 })
    decide(world)
    expect(world.placed.rollout?.state).toBe('progressing')
  })

  test.each([
    ['an image that cannot be pulled', { state: 'pulling', reason: 'image_pull_failed' } as const],
    ['a secret that is not to be had', { state: 'starting', reason: 'secret_unresolved' } as const],
    ['one that is never ready', { state: 'running', reason: '' } as const],
  ])('%s fails at the deadline and not before', (_what, seen) => {
    const { world, next } = failing()
    const { lookAgainAt } = planOf(world)
    see(world, next, seen)
    world.now += DEADLINE_MS - 1
    decide(world)
    expect(world.placed.rollout?.state).toBe('progressing')
    world.now += 1
    expect(world.now).toBe(lookAgainAt)
    decide(world)
    expect(world.placed.rollout).toMatchObject({ failure: { reason: seen.reason || 'progress_deadline' } })
  })

  test('a successor that finds no node fails at the deadline', () => {
    const world = aGoodWorld()
    put(world, 'two')
    commit(world, planOf(world), 0)
    world.now += DEADLINE_MS
    commit(world, planOf(world), 0)
    expect(world.placed.rollout?.failure).toMatchObject({ reason: 'unschedulable', replica: 1 })
    expect(hashes(world)).toEqual(all('one'))
  })

  test('after all are ready is still one, while the watch lasts, and none afterwards', () => {
    for (const [waited, state] of [
      [WATCH_MS - 1, 'rolling_back'],
      [WATCH_MS, undefined],
    ] as const) {
      const world = aGoodWorld()
      put(world, 'two')
      for (let turn = 0; turn < 8; turn += 1) step(world)
      world.now += waited
      decide(world)
      const [last] = running(world)
      if (last !== undefined) see(world, last, { reason: 'unhealthy' })
      decide(world)
      expect(world.placed.rollout?.state).toBe(state)
    }
  })

  test('paused: nothing more is replaced, the failed one stays, and another revision goes on', () => {
    const world = aGoodWorld()
    put(world, 'broken', { update: { ...world.wished.update, failureAction: 'pause' } })
    settle(world)
    expect(world.placed.rollout).toMatchObject({ state: 'paused', failure: { reason: 'unhealthy' } })
    expect(hashes(world)).toEqual(['1 one', '1 broken', '2 one', '3 one'])
    world.now += DEADLINE_MS * 10
    expect(planOf(world)).toMatchObject({ missing: [], rollout: world.placed.rollout })
    put(world, 'two')
    settle(world)
    expect(hashes(world)).toEqual(all('two'))
    expect(world.placed.rollout).toBeUndefined()
  })

  test('the same template again is another attempt, with other replicas', () => {
    const world = aGoodWorld()
    put(world, 'broken', { update: { ...world.wished.update, failureAction: 'pause' } })
    settle(world)
    const [, failed] = running(world).filter(({ replica }) => replica === 1)
    put(world, 'broken')
    decide(world)
    expect(world.placed.rollout).toMatchObject({ state: 'progressing', revision: 3 })
    expect(running(world).some(({ id }) => id === failed?.id)).toBe(false)
    expect(hashes(world)).toEqual(['1 one', '1 broken', '2 one', '3 one'])
  })

  test('with nothing that ran well to go back to is paused', () => {
    const world = aWorld()
    step(world)
    put(world, 'broken')
    settle(world)
    expect(world.placed.rollout?.state).toBe('paused')
    expect(hashes(world)).toEqual(['1 one', '1 broken', '2 one', '3 one'])
  })
})

test('what ran well and fails on its way back is paused: there is nothing else to go back to', () => {
  const world = aGoodWorld()
  put(world, 'two')
  for (let turn = 0; turn < 8; turn += 1) step(world)
  put(world, 'one')
  const [next] = decide(world)
  if (next !== undefined) see(world, next, { state: 'running', reason: 'unhealthy' })
  decide(world)
  expect(world.placed.rollout).toMatchObject({ state: 'paused', templateHash: 'one' })
})

test('it is not over while an old replica is left, and time alone ends nothing then', () => {
  const world = aGoodWorld({ replicas: 1 })
  const [old] = running(world)
  put(world, 'two')
  step(world)
  const next = running(world).find(({ id }) => id !== old?.id)
  // The successor's node is to be emptied before the old one was let go.
  world.dispositions.set(next?.nodeId as NodeId, 'leaving')
  world.now += WATCH_MS * 2
  commit(world, planOf(world), 0)
  world.now += WATCH_MS * 2
  commit(world, planOf(world), 0)
  expect(world.placed.rollout?.state).toBe('progressing')
  expect(running(world)).toHaveLength(2)
  expect(planOf(world).lookAgainAt).toBeUndefined()
})

describe('time', () => {
  test('a clock that was set back begins the deadline anew and loses nothing', () => {
    const world = aGoodWorld()
    put(world, 'two')
    decide(world)
    world.now -= 24 * 3_600_000
    decide(world)
    expect(planOf(world).lookAgainAt).toBe(world.now + DEADLINE_MS)
  })

  test('nothing is overdue for one who has only just begun to hear', () => {
    const world = aGoodWorld()
    put(world, 'two')
    decide(world)
    world.now += DEADLINE_MS * 10
    world.placed = { ...world.placed, listensUntil: world.now + 1 }
    expect(planOf(world)).toMatchObject({ rollout: { state: 'progressing' }, lookAgainAt: world.now + 1 })
    world.now += 1
    expect(planOf(world).rollout?.state).toBe('rolling_back')
  })

  test('waiting before a gate costs none', () => {
    const world = aGoodWorld()
    put(world, 'two', { gated: true })
    decide(world)
    expect(hashes(world)).toEqual(all('one'))
    world.now += DEADLINE_MS * 2
    decide(world)
    world.wished = { ...world.wished, gated: false }
    world.placed = { ...world.placed, waited: true }
    decide(world)
    expect(world.placed.rollout?.failure).toBeUndefined()
    settle(world)
    expect(hashes(world)).toEqual(all('two'))
  })
})

test('until it is known what the image is, a rollout that was under way stands still', () => {
  const world = aGoodWorld()
  put(world, 'two')
  step(world)
  decide(world)
  const before = world.placed
  world.wished = { ...world.wished, target: undefined }
  world.now += DEADLINE_MS * 10
  decide(world)
  expect(world.placed).toEqual(before)
})

test('until it is known what the image is, what, what runs stays, and a lost one is made of what ran well', () => {
  const world = aGoodWorld()
  world.wished = { ...world.wished, target: undefined }
  const [first] = running(world)
  world.dispositions.set(first?.nodeId as NodeId, 'absent')
  decide(world)
  expect(hashes(world)).toEqual(all('one'))
})

describe('a successor that was ready and is down again', () => {
  test.each(['stop-first', 'start-first'] as const)('is waited for before the next step, %s', (order) => {
    const world = aGoodWorld({ update: { ...aWorld().wished.update, order } })
    put(world, 'two')
    for (let turn = 0; turn < 6 && !hashes(world).includes('1 two'); turn += 1) step(world)
    const [first] = running(world).filter(({ templateHash }) => templateHash === 'two')
    if (first === undefined) throw new Error('no successor was made')
    see(world, first, { state: 'ready', reason: 'exited', restarts: 1 })
    for (let turn = 0; turn < 6; turn += 1) {
      decide(world)
      for (const each of world.placed.assignments) if (each.id !== first.id) obey(world, each)
    }
    expect(hashes(world).filter((each) => each.endsWith('two'))).toEqual(['1 two'])
    see(world, first, { reason: '' })
    settle(world)
    expect(hashes(world)).toEqual(all('two'))
  })
})

test('what failed goes back also while the next revision waits for a registry', () => {
  const world = aGoodWorld({ update: { ...aWorld().wished.update, order: 'stop-first' } })
  put(world, 'broken')
  for (let turn = 0; turn < 8 && world.placed.rollout?.state !== 'rolling_back'; turn += 1) step(world)
  expect(world.placed.rollout?.state).toBe('rolling_back')
  world.revision += 1
  world.wished = { ...world.wished, target: undefined }
  settle(world)
  expect(hashes(world)).toEqual(all('one'))
})

test('what writes and is lost gets no successor from another template either, until it is known to be gone', () => {
  const world = aGoodWorld({ replicas: 1, stateful: true })
  const [only] = running(world)
  if (only === undefined) throw new Error('nothing runs')
  world.dispositions.set(only.nodeId, 'failed')
  put(world, 'two')
  for (let turn = 0; turn < 4; turn += 1) expect(decide(world)).toEqual([])
  world.dispositions.set(only.nodeId, 'absent')
  settle(world)
  expect(hashes(world)).toEqual(all('two', 1))
})
