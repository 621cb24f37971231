import type { Assignment, AssignmentId, NodeId, Observation } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { type Dependency, dependencyText, unmetDependencies } from './dependency-gate.ts'

type Seen = Pick<Observation, 'state' | 'reason'>
const assigned = (replica: number, desired: Assignment['desired'] = 'running'): Assignment => ({
  id: `rep_${replica}` as AssignmentId,
  nodeId: 'node_1' as NodeId,
  revision: 1,
  replica,
  desired,
  templateHash: 'h',
  assignedAt: '',
})
const other = (replicas: number, seen: readonly Seen[], changes: Partial<Dependency> = {}): Dependency => ({
  replicas,
  deleting: false,
  assignments: seen.map((_, index) => assigned(index + 1)),
  seen: (id: string) => seen[Number(id.slice(4)) - 1],
  isLost: () => false,
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
  ['one unhealthy', 'healthy', other(1, [sick]), 'has 0 of 1 replicas ready'],
  ['one without a report', 'healthy', other(2, [ready]), 'has 1 of 2 replicas ready'],
  ['one being removed', 'healthy', going, 'has 0 of 1 replicas ready'],
  ['one on a lost node', 'healthy', other(1, [ready], lost), 'has 0 of 1 replicas ready'],
  ['one running on a lost node', 'started', other(1, [running], lost), 'has 0 of 1 replicas running'],
  ['all running', 'started', other(2, [running, sick]), undefined],
  ['one starting', 'started', other(2, [running, starting]), 'has 1 of 2 replicas running'],
  ['no replicas', 'started', other(0, []), 'is stopped'],
  ['a pending deletion', 'started', other(1, [ready], { deleting: true }), 'is being deleted'],
  ['no record', 'healthy', undefined, 'does not exist'],
])('a dependency with %s, required to be %s', (_what, condition, found, text) => {
  const unmet = unmetDependencies({ dependsOn: { db: condition } }, () => found)
  if (text === undefined) expect(unmet).toEqual([])
  else expect(dependencyText(unmet)).toContain(`db must be ${condition} but ${text}`)
})

test('names each unmet dependency', () => {
  const found = unmetDependencies(
    { dependsOn: { db: 'healthy', cache: 'started', bus: 'started' } },
    (name) => (name === 'bus' ? other(1, [ready]) : undefined),
  )
  expect(found.map(({ name }) => name)).toEqual(['db', 'cache'])
  expect(unmetDependencies({}, () => undefined)).toEqual([])
})
