// Tests that repeated plans leave at most one container per assignment, spare other containers, and end empty.

import { asOwner, type DesiredItem } from '@holdfast/contract'
import { inRun } from '@holdfast/testkit/long-run'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { lowestFreeName } from './container-name.ts'
import { aContainer, anItem, assignmentOf, planFacts } from './node-items.fixture.ts'
import {
  type ContainerState,
  type NodeAction,
  type OwnContainer,
  type PlanFacts,
  planNode,
} from './plan-node.ts'

const short = (actions: readonly NodeAction[]): string[] =>
  actions.map((action) => {
    if (action.kind === 'create') return `create ${action.item.assignmentId} ${action.name}`
    if (action.kind !== 'remove') return `${action.kind} ${action.container.id}`
    return `remove ${action.containers.map(({ id }) => id).join(' ')}`
  })
const plan = (items: DesiredItem[], containers: OwnContainer[], over: Partial<PlanFacts> = {}): string[] =>
  short(
    planNode(items, containers, planFacts({ names: new Set(containers.map(({ name }) => name)), ...over })),
  )

describe('the plan for one item', () => {
  const rows: readonly [DesiredItem['desired'], ContainerState | undefined, string[]][] = [
    ['running', undefined, ['create rep_A web']],
    ['running', 'running', []],
    ['running', 'paused', []],
    ['running', 'restarting', []],
    ['running', 'created', ['start c-A']],
    ['running', 'exited', ['start c-A']],
    ['running', 'dead', ['remove c-A']],
    ['running', 'removing', []],
    ['stopped', undefined, []],
    ['stopped', 'running', ['stop c-A']],
    ['stopped', 'restarting', ['stop c-A']],
    ['stopped', 'exited', []],
    ['stopped', 'created', []],
    ['removed', undefined, []],
    ['removed', 'running', ['remove c-A']],
    ['removed', 'exited', ['remove c-A']],
    ['removed', 'removing', []],
  ]
  test.each(rows)('desired %s, container %s', (desired, state, expected) => {
    const containers = state === undefined ? [] : [aContainer('A', state)]
    expect(plan([anItem('A', desired)], containers)).toEqual(expected)
  })
  test.each(rows)('of an unknown kind of owner does nothing: desired %s, container %s', (desired, state) => {
    const owner = asOwner('cron/cron_1')
    const containers = state === undefined ? [] : [aContainer('A', state, { owner })]
    expect(plan([{ ...anItem('A', desired), owner }], containers)).toEqual([])
  })
})

describe('the plan for a container that runs once', () => {
  const item = (desired: DesiredItem['desired']): DesiredItem => {
    const plain = anItem('A', desired)
    return { ...plain, template: { ...plain.template, runs: 'once' } }
  }
  const rows: readonly [DesiredItem['desired'], ContainerState | undefined, boolean, string[]][] = [
    ['running', undefined, false, ['create rep_A web']],
    ['running', undefined, true, []],
    ['running', 'created', false, ['start c-A']],
    ['running', 'created', true, ['start c-A']],
    ['running', 'running', true, []],
    ['running', 'exited', true, []],
    ['running', 'exited', false, []],
    ['running', 'dead', true, ['remove c-A']],
    ['stopped', 'running', true, ['stop c-A']],
    ['stopped', 'exited', true, []],
    ['removed', 'exited', true, ['remove c-A']],
  ]
  test.each(rows)('desired %s, container %s, started before: %s', (desired, state, hasRun, expected) => {
    const containers = state === undefined ? [] : [aContainer('A', state)]
    expect(plan([item(desired)], containers, { hasRun: () => hasRun })).toEqual(expected)
  })

  test('keeps the container that has run, not an older one that could be started', () => {
    const twins = [
      aContainer('A', 'created', { id: 'old' }),
      aContainer('A', 'exited', { id: 'ran', createdAt: 2 }),
    ]
    expect(plan([item('running')], twins)).toEqual(['remove old'])
    expect(plan([item('stopped')], twins.toReversed())).toEqual(['remove old'])
  })

  test('starts only the container that was noted, and removes another one', () => {
    const started = (id: string | undefined) => ({ hasRun: () => true, startedContainer: () => id })
    const created = [aContainer('A', 'created')]
    expect(plan([item('running')], created, started('c-A'))).toEqual(['start c-A'])
    expect(plan([item('running')], created, started('other'))).toEqual(['remove c-A'])
    expect(plan([item('running')], [aContainer('A', 'exited')], started('other'))).toEqual([])
    expect(plan([anItem('A')], created, started('other'))).toEqual(['start c-A'])
  })
})

describe('several containers of one assignment', () => {
  test('keeps the running one, then the oldest', () => {
    const twins = [
      aContainer('A', 'exited', { id: 'old' }),
      aContainer('A', 'running', { id: 'new', createdAt: 2 }),
    ]
    expect(plan([anItem('A')], twins)).toEqual(['remove old'])
    const stopped = twins.map((one) => ({ ...one, state: 'exited' as const }))
    expect(plan([anItem('A')], stopped)).toEqual(['remove new'])
  })

  test('removes one with unsafe settings', () => {
    expect(plan([anItem('A')], [aContainer('A')], { unsafe: new Set(['c-A']) })).toEqual(['remove c-A'])
  })
})

describe('the plan leaves alone', () => {
  test('an assignment with an action in progress or backing off', () => {
    expect(plan([anItem('A')], [], { skip: new Set([assignmentOf('A')]) })).toEqual([])
  })
  test('an item known only from disk: its container is started but never created', () => {
    const items = [anItem('A'), anItem('B'), anItem('C')]
    const mayCreate = (id: string) => id === assignmentOf('C')
    expect(plan(items, [aContainer('B', 'exited')], { mayCreate })).toEqual(['start c-B', 'create rep_C web'])
  })
  test('a container without an assignment, until it is classified as an orphan', () => {
    const left = aContainer('X')
    expect(plan([], [left])).toEqual([])
    expect(plan([], [left], { orphans: [left] })).toEqual(['remove c-X'])
  })
})

describe('container names', () => {
  test.each([
    ['web', [], 'web'],
    ['web', ['web'], 'web.1'],
    ['web', ['web', 'web.1', 'web.3'], 'web.2'],
    ['w', [], 'w.1'],
    ['w', ['w.1'], 'w.2'],
  ])('of %s beside %j: %s', (name, taken, expected) => {
    expect(lowestFreeName(name, new Set(taken))).toBe(expected)
  })
  test('are assigned in the order of assignment ids and avoid foreign names', () => {
    expect(plan([anItem('B'), anItem('A')], [], { names: new Set(['web']) })).toEqual([
      'create rep_A web.1',
      'create rep_B web.2',
    ])
  })
  test('a create with an unknown outcome is retried under its name, which no other container gets', () => {
    const pendingNames = new Map([[assignmentOf('B'), 'web']])
    expect(plan([anItem('A'), anItem('B')], [], { pendingNames })).toEqual([
      'create rep_A web.1',
      'create rep_B web',
    ])
    expect(plan([anItem('B')], [], { pendingNames, names: new Set(['web']) })).toEqual(['create rep_B web.1'])
  })
})

/** The engine's containers after the actions of a plan. */
function carryOut(containers: readonly OwnContainer[], actions: readonly NodeAction[]): OwnContainer[] {
  let now = [...containers]
  const become = (id: string, state: ContainerState): void => {
    now = now.map((one) => (one.id === id ? { ...one, state } : one))
  }
  for (const action of actions) {
    if (action.kind === 'create') {
      const { assignmentId, generation, owner } = action.item
      expect(now.every(({ name }) => name !== action.name)).toBe(true)
      now.push({
        id: `made-${assignmentId}`,
        name: action.name,
        state: 'running',
        createdAt: 9,
        assignmentId,
        generation,
        owner,
      })
    } else if (action.kind === 'start') become(action.container.id, 'running')
    else if (action.kind === 'stop') become(action.container.id, 'exited')
    else now = now.filter(({ id }) => !action.containers.some((gone) => gone.id === id))
  }
  return now
}

const IDS = ['A', 'B', 'C', 'D']
const states = fc.constantFrom<ContainerState>('created', 'running', 'paused', 'restarting', 'exited', 'dead')
const arbitraryItems = fc
  .uniqueArray(fc.constantFrom(...IDS), { maxLength: 4 })
  .chain((ids) =>
    fc.tuple(
      ...ids.map((id) =>
        fc.constantFrom('running', 'stopped', 'removed').map((desired) => anItem(id, desired)),
      ),
    ),
  )
const arbitraryContainers = fc
  .array(fc.tuple(fc.constantFrom(...IDS, 'X'), states), { maxLength: 8 })
  .map((rows) =>
    rows.map(([id, state], index) =>
      aContainer(id, state, { id: `c${index}`, name: `web.${index}`, createdAt: index }),
    ),
  )

test('carrying out plans leaves one container per assignment and then an empty plan', () => {
  fc.assert(
    fc.property(
      arbitraryItems,
      arbitraryContainers,
      fc.array(fc.nat({ max: 50 }), { maxLength: 3 }),
      (items, given, cuts) => {
        let containers = given
        const step = (most: number): number => {
          const names = new Set(['web', ...containers.map(({ name }) => name)])
          const actions = planNode(items, containers, planFacts({ names })).slice(0, most)
          containers = carryOut(containers, actions)
          return actions.length
        }
        // First come plans of which only a few actions are carried out. Three plans that are carried out in full must then be
        // enough, because one plan removes an assignment's second container and only the next one starts the first.
        for (const cut of cuts) step(cut)
        for (let pass = 0; pass < 3; pass += 1) step(Number.POSITIVE_INFINITY)
        expect(step(Number.POSITIVE_INFINITY)).toBe(0)
        for (const { assignmentId, desired } of items) {
          const mine = containers.filter((one) => one.assignmentId === assignmentId)
          expect(mine.length).toBeLessThanOrEqual(1)
          expect(mine.length === 1).toBe(
            desired === 'running' || (desired === 'stopped' && mine.length === 1),
          )
        }
        // No plan changes containers that have no desired item.
        const desired = new Set(items.map(({ assignmentId }) => assignmentId))
        const others = (all: readonly OwnContainer[]) => all.filter((one) => !desired.has(one.assignmentId))
        expect(others(containers)).toEqual(others(given))
      },
    ),
    { numRuns: inRun(1_000, 5_000) },
  )
})
