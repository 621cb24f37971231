import type { Assignment, AssignmentId, NodeId, Observation } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { type Dependency, dependencyText, unmetDependencies } from './dependency-gate.ts'

type Seen = Pick<Observation, 'state' | 'reason'>
const assigned = (replica: number, desired: Assignment['desired'] = 'running'): Assignment => ({
  ...{ id: `rep_${replica}` as AssignmentId, nodeId: 'node_1' as NodeId, revision: 1 },
  ...{ replica, desired, templateHash: 'h', assignedAt: '' },
})
const other = (replicas: number, seen: readonly Seen[], changes: Partial<Dependency> = {}): Dependency => ({
  ...{ replicas, deleting: false, assignments: seen.map((_, index) => assigned(index + 1)) },
  ...{ seen: (id: string) => seen[Number(id.slice(4)) - 1], isLost: () => false },
  ...changes,
})
const ready: Seen = { state: 'ready', reason: '' }
const sick: Seen = { state: 'ready', reason: 'unhealthy' }
const running: Seen = { state: 'running', reason: '' }
const starting: Seen = { state: 'starting', reason: '' }
const lost = { isLost: () => true }
const going = other(1, [ready], { assignments: [assigned(1, 'removed')] })

test.each<[string, 'healthy' | 'started', Dependency | undefined, string | undefined]>([
  ['all ready', 'healthy', other(2, [ready, ready]), undefined],
  ['one not ready', 'healthy', other(2, [ready, running]), 'has 1 of 2 replicas ready'],
  ['one that fell ill', 'healthy', other(1, [sick]), 'has 0 of 1 replicas ready'],
  ['one that is placed and not seen', 'healthy', other(2, [ready]), 'has 1 of 2 replicas ready'],
  ['one on its way out', 'healthy', going, 'has 0 of 1 replicas ready'],
  ['one whose node is lost', 'healthy', other(1, [ready], lost), 'has 0 of 1 replicas ready'],
  [
    'one that ran where the node is lost',
    'started',
    other(1, [running], lost),
    'has 0 of 1 replicas running',
  ],
  ['running is started', 'started', other(2, [running, sick]), undefined],
  ['starting is not', 'started', other(2, [running, starting]), 'has 1 of 2 replicas running'],
  ['none wished', 'started', other(0, []), 'is stopped'],
  ['being deleted', 'started', other(1, [ready], { deleting: true }), 'is being deleted'],
  ['not there', 'healthy', undefined, 'does not exist'],
])('%s, wanted %s', (_what, condition, found, text) => {
  const unmet = unmetDependencies({ dependsOn: { db: condition } }, () => found)
  if (text === undefined) expect(unmet).toEqual([])
  else expect(dependencyText(unmet)).toContain(`db must be ${condition} and ${text}`)
})

test('each that is unmet is named', () => {
  const found = unmetDependencies(
    { dependsOn: { db: 'healthy', cache: 'started', bus: 'started' } },
    (name) => (name === 'bus' ? other(1, [ready]) : undefined),
  )
  expect(found.map(({ name }) => name)).toEqual(['db', 'cache'])
  expect(unmetDependencies({}, () => undefined)).toEqual([])
})
