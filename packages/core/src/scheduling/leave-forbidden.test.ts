// Tests which replicas are removed at once from a node that residency forbids, and which wait for their successor.

import type { Assignment, AssignmentId, Observation } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { leaveForbidden, type Whereabouts } from './leave-forbidden.ts'
import { nodeIdOf } from './scheduling.fixture.ts'

/**
 * An assignment on one of four nodes. Residency allows nodes 1 and 4 and forbids nodes 2 and 3; nodes 3 and 4 are not
 * connected.
 */
const assigned = (replica: number, node: number, desired: Assignment['desired'] = 'running'): Assignment => ({
  id: `rep_${replica}_${node}` as AssignmentId,
  replica,
  nodeId: nodeIdOf(node),
  revision: 1,
  templateHash: 'one',
  desired,
  assignedAt: '2026-01-01T00:00:00.000Z',
})
const LONG_AGO = '2020-01-01T00:00:00.000Z'
const numberOf = (id: string): number => Number(id.slice(-2))
const whereabouts = (seen: Partial<Observation> = { state: 'ready' }): Whereabouts => ({
  mayBeOn: (id) => numberOf(id) === 1 || numberOf(id) === 4,
  answers: (id) => numberOf(id) < 3,
  seen: () => ({ state: 'assigned', reason: '', ...seen }),
  isOverdue: ({ assignedAt }) => assignedAt === LONG_AGO,
  most: 2,
})
const goingOf = (kept: Assignment[], added: Assignment[] = [], seen?: Partial<Observation>): string[] =>
  leaveForbidden(kept, added, whereabouts(seen)).flatMap(({ id, desired }, index) =>
    desired === kept[index]?.desired ? [] : [id],
  )

const forbidden = [assigned(1, 2), assigned(2, 2)]

test('forbidden replicas leave at once if no successor is on its way, and only they', () => {
  expect(goingOf([...forbidden, assigned(3, 1)])).toEqual(['rep_1_2', 'rep_2_2'])
})

test('the same list is returned if every replica may stay', () => {
  const kept = [assigned(1, 1), assigned(2, 4)]
  expect(leaveForbidden(kept, [], whereabouts())).toBe(kept)
})

test.each<[string, Assignment[], Assignment[], Partial<Observation>]>([
  ['a successor that was just placed', [], [assigned(1, 1)], {}],
  ['a successor that starts', [assigned(1, 1)], [], { state: 'starting' }],
  ['an old one that is being stopped', [assigned(3, 2, 'removed')], [], { state: 'ready' }],
])('they wait for %s', (_about, others, added, seen) => {
  expect(goingOf([...forbidden, ...others], added, seen)).toEqual([])
})

test.each<[string, Assignment, Partial<Observation>]>([
  ['a successor in trouble', assigned(1, 1), { state: 'running', reason: 'unhealthy' }],
  [
    'a successor that cannot pull its image',
    assigned(1, 1),
    { state: 'pulling', reason: 'image_pull_failed' },
  ],
  ['a successor on a machine that does not answer', assigned(1, 4), { state: 'starting' }],
  ['an old one on a machine that does not answer', assigned(3, 3, 'removed'), { state: 'ready' }],
  [
    'a successor that should long be ready',
    { ...assigned(1, 1), assignedAt: LONG_AGO },
    { state: 'starting' },
  ],
  ['one that is ready already', assigned(3, 1), { state: 'ready' }],
])('they do not wait for %s', (_about, other, seen) => {
  expect(goingOf([...forbidden, other], [], seen)).toEqual(['rep_1_2', 'rep_2_2'])
})

test('no more replicas leave at once than the limit allows', () => {
  expect(goingOf([...forbidden, assigned(3, 2)])).toEqual(['rep_1_2', 'rep_2_2'])
})
