// Tests the difference between a deployment's replicas in a scheduling view and the replicas that a decision assumes.

import { describe, expect, test } from 'vitest'
import { nodeIdOf } from '../scheduling/scheduling.fixture.ts'
import { countedChanges } from './counted-changes.ts'
import { assigned } from './placement.fixture.ts'

const resources = { cpuMillis: 100, memoryBytes: 64 }
const more = { cpuMillis: 200, memoryBytes: 64 }
const counted = (numbers: readonly number[], requests = resources) => ({
  name: 'web',
  resources: requests,
  assignments: numbers.map((number) => assigned(number, number)),
})
const shownChanges = (before: ReturnType<typeof counted>, after: ReturnType<typeof counted>) =>
  countedChanges(before, after).map(({ kind, nodeId }) => `${kind} ${Number(nodeId.slice(5))}`)

describe('the changes of a decision', () => {
  test.each([
    ['none where nothing changes', counted([1, 2]), counted([1, 2]), []],
    ['none for another order', counted([1, 2]), counted([2, 1]), []],
    ['a release for a replica that goes', counted([1, 2]), counted([1]), ['release 2']],
    ['an entry for a replica that comes', counted([1]), counted([1, 2]), ['enter 2']],
    ['both where the requests change', counted([1]), counted([1], more), ['release 1', 'enter 1']],
  ] as const)('are %s', (_name, before, after, expected) => {
    expect(shownChanges(before, after)).toEqual(expected)
  })

  test('have the requests of a canary for the replicas with its mark', () => {
    const own = assigned(1, 1)
    const marked = { ...assigned(2, 2), canary: true }
    const before = { ...counted([]), canaryResources: more, assignments: [own, marked] }
    expect(countedChanges(before, { ...before, assignments: [own] })).toEqual([
      { kind: 'release', nodeId: nodeIdOf(2), name: 'web', resources: more },
    ])
    const { canary: _mark, ...adopted } = marked
    expect(countedChanges(before, { ...before, assignments: [own, adopted] })).toEqual([
      { kind: 'release', nodeId: nodeIdOf(2), name: 'web', resources: more },
      { kind: 'enter', nodeId: nodeIdOf(2), name: 'web', resources },
    ])
    expect(countedChanges(before, { ...before, canaryResources: resources })).toHaveLength(4)
  })

  test('move an assignment that a repeated decision puts on another node', () => {
    const after = { ...counted([1]), assignments: [assigned(1, 2)] }
    expect(countedChanges(counted([1]), after)).toEqual([
      { kind: 'release', nodeId: nodeIdOf(1), name: 'web', resources },
      { kind: 'enter', nodeId: nodeIdOf(2), name: 'web', resources },
    ])
  })
})
