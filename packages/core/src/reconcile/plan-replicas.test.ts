import type { Assignment, AssignmentId, NodeId } from '@holdfast/contract'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type AssignmentFacts, isUnchanged, planReplicas } from './plan-replicas.ts'

const assigned = (replica: number, changes: Partial<Assignment> = {}): Assignment => ({
  id: `rep_${replica}` as AssignmentId,
  replica,
  nodeId: `node_${replica}` as NodeId,
  revision: 1,
  templateHash: 'h',
  desired: 'running',
  assignedAt: '',
  ...changes,
})
const nothing: AssignmentFacts = {
  isGone: () => false,
  isLost: () => false,
  isLeaving: () => false,
  isReady: () => true,
}
const three = [assigned(1), assigned(2), assigned(3)]
const wishing = (replicas: number, deleting = false) => ({ replicas, deleting })

describe('wished replicas against assigned ones', () => {
  test('as many as wished: nothing changes', () => {
    const plan = planReplicas(wishing(3), three, nothing)
    expect(plan).toEqual({ kept: three, dropped: [], missing: [] })
    expect(isUnchanged(plan, three)).toBe(true)
  })

  test('more wished: the free numbers are missing, lowest first', () => {
    expect(planReplicas(wishing(4), [assigned(1), assigned(3)], nothing).missing).toEqual([2, 4])
  })

  test('fewer wished: the highest numbers go', () => {
    const { kept, missing } = planReplicas(wishing(1), three, nothing)
    expect(kept.map(({ desired }) => desired)).toEqual(['running', 'removed', 'removed'])
    expect(missing).toEqual([])
  })

  test.each([
    ['0 replicas', wishing(0)],
    ['being deleted', wishing(3, true)],
  ])('%s: all go', (_what, wished) => {
    const plan = planReplicas(wished, three, nothing)
    expect(plan.kept.map(({ desired }) => desired)).toEqual(['removed', 'removed', 'removed'])
    expect(plan.dropped).toEqual([])
  })

  test('an assignment that goes stays until it is confirmed gone, and its number is free at once', () => {
    const leaving = [assigned(1), assigned(2, { desired: 'removed' })]
    expect(planReplicas(wishing(2), leaving, nothing)).toEqual({ kept: leaving, dropped: [], missing: [2] })
    const gone = planReplicas(wishing(1), leaving, { ...nothing, isGone: (id) => id === 'rep_2' })
    expect(gone).toEqual({ kept: [leaving[0]], dropped: [leaving[1]], missing: [] })
  })

  test('replicas of a node that is no longer enrolled are dropped and missing', () => {
    const plan = planReplicas(wishing(3), three, { ...nothing, isLost: (id) => id === 'node_2' })
    expect(plan).toEqual({ kept: [three[0], three[2]], dropped: [three[1]], missing: [2] })
  })

  test('a replica of a node that is given up stays until its successor is ready', () => {
    const leaving = { ...nothing, isLeaving: (id: string) => id === 'node_2' }
    const before = planReplicas(wishing(3), three, leaving)
    expect(before).toEqual({ kept: three, dropped: [], missing: [2] })
    const successor = assigned(2, { id: 'rep_4' as AssignmentId, nodeId: 'node_1' as NodeId })
    const both = [...three, successor]
    const coming = planReplicas(wishing(3), both, { ...leaving, isReady: (id) => id !== 'rep_4' })
    expect(coming).toEqual({ kept: both, dropped: [], missing: [] })
    const there = planReplicas(wishing(3), both, leaving)
    expect(there.kept.map(({ desired }) => desired)).toEqual(['running', 'removed', 'running', 'running'])
  })
})

test('whatever was assigned: wished = staying + missing, nothing returns, and a second plan changes nothing', () => {
  const assignment = fc.record({
    replica: fc.integer({ min: 1, max: 6 }),
    desired: fc.constantFrom('running', 'stopped', 'removed'),
  })

  const scene = fc.record({
    count: fc.integer({ min: 0, max: 6 }),
    deleting: fc.boolean(),
    some: fc.uniqueArray(assignment, { selector: ({ replica }) => replica }),
    gone: fc.array(fc.integer({ min: 0, max: 5 })),
    lost: fc.array(fc.integer({ min: 0, max: 5 })),
  })
  fc.assert(
    fc.property(scene, ({ count, deleting, some, gone, lost }) => {
      const before = some.map(({ replica, desired }) => assigned(replica, { desired: desired as 'running' }))
      const facts: AssignmentFacts = {
        isGone: (id) => gone.some((index) => before[index]?.id === id),
        isLost: (id) => lost.some((index) => before[index]?.nodeId === id),
        isLeaving: () => false,
        isReady: () => true,
      }
      const wished = wishing(count, deleting)
      const { kept, dropped, missing } = planReplicas(wished, before, facts)
      const running = kept.filter(({ desired }) => desired === 'running')
      expect(running.length + missing.length).toBe(deleting ? 0 : count)
      expect(kept.length + dropped.length).toBe(before.length)
      for (const each of kept) {
        const was = before.find(({ id }) => id === each.id)
        if (was?.desired !== 'running')
          expect(each.desired).toBe(was?.desired === 'stopped' ? each.desired : 'removed')
        if (was?.desired !== 'running') expect(each.desired).not.toBe('running')
      }
      expect(isUnchanged(planReplicas(wished, kept, facts), kept)).toBe(true)
    }),
  )
})
