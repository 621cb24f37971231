import type { Assignment, NodeId } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import {
  aWorld,
  commit,
  DEADLINE_MS,
  decide,
  planOf,
  put,
  reportNext,
  running,
  see,
  servedNumbers,
  settle,
  WATCH_MS,
  type World,
} from './plan-rollout.fixture.ts'

const hashes = (world: World) =>
  running(world)
    .toSorted((one, other) => one.replica - other.replica)
    .map(({ replica, templateHash }) => `${replica} ${templateHash}`)
const all = (hash: string, count = 3) => Array.from({ length: count }, (_, at) => `${at + 1} ${hash}`)
/** A settled deployment whose template `one` has passed its watch window. It has three replicas by default. */
function aGoodWorld(changes: Parameters<typeof aWorld>[0] = {}): World {
  const world = aWorld(changes)
  settle(world)
  return world
}
const reportAll = (world: World) => world.placed.assignments.filter((each) => reportNext(world, each)).length
const needsReport = (world: World, { id, desired }: Assignment) =>
  desired === 'removed' || world.observed.get(id)?.state !== 'ready'
const step = (world: World) => {
  decide(world)
  reportAll(world)
}

describe('an update within a quota', () => {
  test.each([
    { quota: 5, parallelism: 1, least: 3 },
    { quota: 4, parallelism: 1, least: 3 },
    { quota: 4, parallelism: 3, least: 3 },
    { quota: 3, parallelism: 1, least: 2 },
  ])(
    'of $quota containers ends, with $least of 3 replicas serving at least; parallelism $parallelism',
    (one) => {
      const world = aGoodWorld()
      world.quota = one.quota
      put(world, 'two', { update: { ...world.desired.update, parallelism: one.parallelism } })
      let least = 3
      for (let turn = 0; turn < 40; turn += 1) {
        decide(world)
        least = Math.min(least, servedNumbers(world, world.placed.assignments).size)
        const [next] = world.placed.assignments.filter((each) => needsReport(world, each))
        if (next !== undefined) reportNext(world, next)
      }
      expect(hashes(world)).toEqual(all('two'))
      expect(least).toBe(one.least)
    },
  )
})

describe('a first revision', () => {
  test('becomes the last good one after all replicas were ready for the watch window', () => {
    const world = aWorld()
    expect(decide(world)).toHaveLength(3)
    expect(world.placed.rollout).toMatchObject({ revision: 1, state: 'progressing', replaces: false })
    reportAll(world)
    world.now += 1_000
    decide(world)
    expect(planOf(world)).toMatchObject({ replanAt: world.now + WATCH_MS, lastGood: undefined })
    world.now += WATCH_MS
    decide(world)
    expect(world.placed).toMatchObject({ lastGood: { revision: 1, templateHash: 'one' }, rollout: undefined })
  })

  test('stores no progress before all replicas are ready, to avoid a write for each', () => {
    const world = aWorld()
    const [one] = decide(world)
    const before = world.placed.rollout
    if (one !== undefined) reportNext(world, one)
    expect(planOf(world).rollout).toBe(before)
  })

  const aBrokenWorld = () => {
    const world = aWorld({ target: { revision: 1, templateHash: 'broken' } })
    decide(world)
    return world
  }
  const one = { state: 'running', reason: 'exited', restarts: 1 } as const
  const three = { ...one, restarts: 3 }

  test('fails with the cause of its container and keeps it, because there is no revision to return to', () => {
    const world = aBrokenWorld()
    const [first] = running(world)
    if (first === undefined) throw new Error('no replica was created')
    see(world, first, { ...one, exitCode: 42 })
    decide(world)
    expect(world.placed.rollout?.failure).toBeUndefined()
    see(world, first, { ...three, exitCode: 42 })
    decide(world)
    expect(world.placed.rollout).toMatchObject({
      state: 'progressing',
      failure: { reason: 'exited', replica: 1, nodeId: first.nodeId, cause: 'exited with code 42' },
    })
    expect(hashes(world)).toEqual(all('broken'))
  })

  test('fails when its container could not be started three times', () => {
    const world = aBrokenWorld()
    const failed = { state: 'starting', reason: 'start_failed', cause: 'exec: "serve": not found' } as const
    for (const restarts of [1, 2, 3]) {
      expect(world.placed.rollout?.failure).toBeUndefined()
      for (const each of running(world)) see(world, each, { ...failed, restarts })
      decide(world)
    }
    expect(world.placed.rollout?.failure).toMatchObject({
      reason: 'start_failed',
      cause: 'cannot start: exec: "serve": not found',
    })
  })

  test('fails once for each revision', () => {
    const world = aBrokenWorld()
    for (const each of running(world)) see(world, each, three)
    decide(world)
    const failed = world.placed.rollout
    world.now += DEADLINE_MS * 10
    expect(planOf(world)).toMatchObject({ replanAt: undefined })
    decide(world)
    expect(world.placed.rollout).toBe(failed)
    put(world, 'broken', { replicas: 2 })
    decide(world)
    expect(world.placed.rollout?.failure?.at).not.toBe(failed?.failure?.at)
  })

  test('becomes good after a failure when its replicas are ready after all', () => {
    const world = aWorld()
    decide(world)
    for (const each of running(world)) see(world, each, three)
    decide(world)
    for (const each of running(world)) see(world, each, { state: 'ready', reason: '' })
    settle(world)
    expect(world.placed).toMatchObject({ lastGood: { revision: 1, templateHash: 'one' }, rollout: undefined })
  })

  test('fails at its deadline, unless another replica has become ready since', () => {
    const world = aWorld()
    const [first] = decide(world)
    expect(planOf(world).replanAt).toBe(world.now + DEADLINE_MS)
    if (first !== undefined) reportNext(world, first)
    world.now += DEADLINE_MS
    decide(world)
    expect(world.placed.rollout).toMatchObject({ ready: 1 })
    expect(world.placed.rollout).not.toHaveProperty('failure')
    expect(planOf(world).replanAt).toBe(world.now + DEADLINE_MS)
    world.now += DEADLINE_MS
    decide(world)
    expect(world.placed.rollout?.failure).toMatchObject({ reason: 'progress_deadline', replica: 2 })
  })

  test('does not fail while its replicas wait for a node', () => {
    const world = aWorld()
    commit(world, planOf(world), 0)
    world.now += DEADLINE_MS * 10
    commit(world, planOf(world), 0)
    expect(world.placed.rollout?.failure).toBeUndefined()
  })

  test('with no replicas starts no rollout', () => {
    const world = aWorld({ replicas: 0 })
    decide(world)
    expect(world.placed).toMatchObject({ assignments: [], rollout: undefined, lastGood: undefined })
  })
})

describe('another template', () => {
  test('replaces one replica after the other and becomes good after the watch window', () => {
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

  test('restarts nothing when only the replica count changes', () => {
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

  test('is used for the replicas that a scale-up during the rollout adds', () => {
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

  test('is watched once: another number of replicas does not start its watch window again', () => {
    for (const replicas of [2, 4]) {
      const world = aGoodWorld()
      put(world, 'two')
      for (let turn = 0; turn < 8; turn += 1) step(world)
      const watchedSince = world.now
      world.now += 9_000
      put(world, 'two', { replicas })
      for (let turn = 0; turn < 3; turn += 1) step(world)
      expect(planOf(world).replanAt).toBe(watchedSince + WATCH_MS)
      world.now = watchedSince + WATCH_MS
      decide(world)
      expect(world.placed).toMatchObject({
        lastGood: { revision: 3, templateHash: 'two' },
        rollout: undefined,
      })
    }
  })

  test('is good as soon as added replicas are ready, if its watch window is over by then', () => {
    const world = aGoodWorld()
    put(world, 'two')
    for (let turn = 0; turn < 8; turn += 1) step(world)
    put(world, 'two', { replicas: 4 })
    decide(world)
    world.now += WATCH_MS
    decide(world)
    expect(world.placed).toMatchObject({ lastGood: { revision: 1 }, rollout: { revision: 3, ready: 3 } })
    reportAll(world)
    decide(world)
    expect(world.placed).toMatchObject({ lastGood: { revision: 3 }, rollout: undefined })
  })

  test('is watched from the first time that all replicas are ready, not from an earlier revision', () => {
    const world = aGoodWorld()
    put(world, 'two')
    step(world)
    world.now += 9_000
    put(world, 'two', { replicas: 4 })
    for (let turn = 0; turn < 8; turn += 1) step(world)
    expect(planOf(world).replanAt).toBe(world.now + WATCH_MS)
  })

  test('is watched again after the clock was set back', () => {
    const world = aGoodWorld()
    put(world, 'two')
    for (let turn = 0; turn < 8; turn += 1) step(world)
    world.now -= 24 * 3_600_000
    put(world, 'two', { replicas: 2 })
    for (let turn = 0; turn < 3; turn += 1) step(world)
    expect(planOf(world).replanAt).toBe(world.now + WATCH_MS)
  })

  test('is superseded by the next one: replicas that were never ready go at once, serving ones stay', () => {
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

  test('that is reverted during its rollout keeps the original replicas', () => {
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

describe('a failed update', () => {
  const failing = (changes: Parameters<typeof aWorld>[0] = {}) => {
    const world = aGoodWorld(changes)
    put(world, 'two')
    step(world)
    const [next] = decide(world)
    if (next === undefined) throw new Error('no second successor was created')
    return { world, next }
  }

  test.each([
    ['an unhealthy replica', { state: 'running', reason: 'unhealthy' } as const, 'unhealthy'],
    ['a third exit', { state: 'running', reason: 'exited', restarts: 3 } as const, 'exited'],
    [
      'a rejection by the agent',
      { state: 'failed', reason: 'refused_by_agent' } as const,
      'refused_by_agent',
    ],
  ])('is rolled back to the last good revision after %s', (_what, seen, reason) => {
    const { world, next } = failing()
    see(world, next, seen)
    decide(world)
    const { replica, nodeId } = next
    expect(world.placed.rollout).toMatchObject({
      state: 'rolling_back',
      failure: { reason, replica, nodeId },
    })
    // Replica 1, which already runs the failed revision, is rolled back by the rules of an update. The failed replica is
    // removed at once.
    expect(hashes(world)).toEqual(['1 two', '1 one', '2 one', '3 one'])
    settle(world)
    expect(hashes(world)).toEqual(all('one'))
    expect(world.placed.rollout?.state).toBe('rolling_back')
    expect(world.placed.lastGood).toEqual({ revision: 1, templateHash: 'one' })
  })

  test('is not caused by two exits', () => {
    const { world, next } = failing()
    see(world, next, { state: 'running', reason: 'exited', restarts: 2 })
    decide(world)
    expect(world.placed.rollout?.state).toBe('progressing')
  })

  test.each([
    ['an image pull failure', { state: 'pulling', reason: 'image_pull_failed' } as const],
    ['an unresolved secret', { state: 'starting', reason: 'secret_unresolved' } as const],
    ['a replica that is never ready', { state: 'running', reason: '' } as const],
  ])('is declared at the progress deadline and not before, for %s', (_what, seen) => {
    const { world, next } = failing()
    const { replanAt } = planOf(world)
    see(world, next, seen)
    world.now += DEADLINE_MS - 1
    decide(world)
    expect(world.placed.rollout?.state).toBe('progressing')
    world.now += 1
    expect(world.now).toBe(replanAt)
    decide(world)
    expect(world.placed.rollout).toMatchObject({ failure: { reason: seen.reason || 'progress_deadline' } })
  })

  test('is declared at the progress deadline if no node fits a successor', () => {
    const world = aGoodWorld()
    put(world, 'two')
    commit(world, planOf(world), 0)
    world.now += DEADLINE_MS
    commit(world, planOf(world), 0)
    expect(world.placed.rollout?.failure).toMatchObject({ reason: 'unschedulable', replica: 1 })
    expect(hashes(world)).toEqual(all('one'))
  })

  test('is still declared during the watch window after all replicas are ready, and not afterwards', () => {
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

  test('that is paused replaces nothing more, keeps the failed replica and accepts another revision', () => {
    const world = aGoodWorld()
    put(world, 'broken', { update: { ...world.desired.update, failureAction: 'pause' } })
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

  test('is attempted again with new replicas when the same template is stored again', () => {
    const world = aGoodWorld()
    put(world, 'broken', { update: { ...world.desired.update, failureAction: 'pause' } })
    settle(world)
    const [, failed] = running(world).filter(({ replica }) => replica === 1)
    put(world, 'broken')
    decide(world)
    expect(world.placed.rollout).toMatchObject({ state: 'progressing', revision: 3 })
    expect(running(world).some(({ id }) => id === failed?.id)).toBe(false)
    expect(hashes(world)).toEqual(['1 one', '1 broken', '2 one', '3 one'])
  })

  test('is paused if there is no good revision to roll back to', () => {
    const world = aWorld()
    step(world)
    put(world, 'broken')
    settle(world)
    expect(world.placed.rollout?.state).toBe('paused')
    expect(hashes(world)).toEqual(['1 one', '1 broken', '2 one', '3 one'])
  })
})

test('pauses a good revision that fails when it is stored again, because no other good revision exists', () => {
  const world = aGoodWorld()
  put(world, 'two')
  for (let turn = 0; turn < 8; turn += 1) step(world)
  put(world, 'one')
  const [next] = decide(world)
  if (next !== undefined) see(world, next, { state: 'running', reason: 'unhealthy' })
  decide(world)
  expect(world.placed.rollout).toMatchObject({ state: 'paused', templateHash: 'one' })
})

test('a rollout does not end while an old replica is left, however much time passes', () => {
  const world = aGoodWorld({ replicas: 1 })
  const [old] = running(world)
  put(world, 'two')
  step(world)
  const next = running(world).find(({ id }) => id !== old?.id)
  // The node of the successor is drained before the old replica has been removed.
  world.dispositions.set(next?.nodeId as NodeId, 'leaving')
  world.now += WATCH_MS * 2
  commit(world, planOf(world), 0)
  world.now += WATCH_MS * 2
  commit(world, planOf(world), 0)
  expect(world.placed.rollout?.state).toBe('progressing')
  expect(running(world)).toHaveLength(2)
  expect(planOf(world).replanAt).toBeUndefined()
})

describe('the progress deadline', () => {
  test('starts again after the clock was set back', () => {
    const world = aGoodWorld()
    put(world, 'two')
    decide(world)
    world.now -= 24 * 3_600_000
    decide(world)
    expect(planOf(world).replanAt).toBe(world.now + DEADLINE_MS)
  })

  test('does not expire for a new controller that may still lack agent reports', () => {
    const world = aGoodWorld()
    put(world, 'two')
    decide(world)
    world.now += DEADLINE_MS * 10
    world.placed = { ...world.placed, graceUntil: world.now + 1 }
    expect(planOf(world)).toMatchObject({ rollout: { state: 'progressing' }, replanAt: world.now + 1 })
    world.now += 1
    expect(planOf(world).rollout?.state).toBe('rolling_back')
  })

  test('does not run while a dependency is unmet', () => {
    const world = aGoodWorld()
    put(world, 'two', { gated: true })
    decide(world)
    expect(hashes(world)).toEqual(all('one'))
    world.now += DEADLINE_MS * 2
    decide(world)
    world.desired = { ...world.desired, gated: false }
    world.placed = { ...world.placed, waited: true }
    decide(world)
    expect(world.placed.rollout?.failure).toBeUndefined()
    settle(world)
    expect(hashes(world)).toEqual(all('two'))
  })
})

test('a rollout in progress does not change while the image is unresolved', () => {
  const world = aGoodWorld()
  put(world, 'two')
  step(world)
  decide(world)
  const before = world.placed
  world.desired = { ...world.desired, target: undefined }
  world.now += DEADLINE_MS * 10
  decide(world)
  expect(world.placed).toEqual(before)
})

test('while the image is unresolved, replicas keep running and a lost one is recreated from the last good revision', () => {
  const world = aGoodWorld()
  world.desired = { ...world.desired, target: undefined }
  const [first] = running(world)
  world.dispositions.set(first?.nodeId as NodeId, 'absent')
  decide(world)
  expect(hashes(world)).toEqual(all('one'))
})

describe('a successor that was ready and is not ready now', () => {
  test.each(['stop-first', 'start-first'] as const)('holds back the next step, %s', (order) => {
    const world = aGoodWorld({ update: { ...aWorld().desired.update, order } })
    put(world, 'two')
    for (let turn = 0; turn < 6 && !hashes(world).includes('1 two'); turn += 1) step(world)
    const [first] = running(world).filter(({ templateHash }) => templateHash === 'two')
    if (first === undefined) throw new Error('no successor was created')
    see(world, first, { state: 'ready', reason: 'exited', restarts: 1 })
    for (let turn = 0; turn < 6; turn += 1) {
      decide(world)
      for (const each of world.placed.assignments) if (each.id !== first.id) reportNext(world, each)
    }
    expect(hashes(world).filter((each) => each.endsWith('two'))).toEqual(['1 two'])
    see(world, first, { reason: '' })
    settle(world)
    expect(hashes(world)).toEqual(all('two'))
  })
})

test('a failed update is rolled back also while the image of the next revision is unresolved', () => {
  const world = aGoodWorld({ update: { ...aWorld().desired.update, order: 'stop-first' } })
  put(world, 'broken')
  for (let turn = 0; turn < 8 && world.placed.rollout?.state !== 'rolling_back'; turn += 1) step(world)
  expect(world.placed.rollout?.state).toBe('rolling_back')
  world.revision += 1
  world.desired = { ...world.desired, target: undefined }
  settle(world)
  expect(hashes(world)).toEqual(all('one'))
})

test('a lost replica with a read-write mount gets no successor of another template until its node is removed', () => {
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
