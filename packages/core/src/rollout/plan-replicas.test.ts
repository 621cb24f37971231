import type { Assignment, AssignmentId, NodeId, Observation } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import type { DesiredReplicas, NodeDisposition, ReplicaFacts } from './desired-replicas.ts'
import { isUnchanged, planReplicas } from './plan-replicas.ts'

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
type Seen = Pick<Observation, 'state' | 'reason' | 'restarts' | 'gone'>
const READY: Seen = { state: 'ready', reason: '', restarts: 0, gone: false }
const STARTING: Seen = { ...READY, state: 'starting' }
const facts = (changes: Partial<ReplicaFacts> = {}): ReplicaFacts => ({
  dispositionOf: () => 'staying',
  seen: () => READY,
  room: 1_000,
  ...changes,
})
const seeing = (states: { readonly [id: string]: Partial<Seen> }) =>
  facts({ seen: (id) => ({ ...READY, ...states[id] }) })
const desiredOf = (count: number, changes: Partial<DesiredReplicas> = {}): DesiredReplicas => ({
  count,
  aim: { revision: 1, templateHash: 'h' },
  hold: false,
  stopFirst: false,
  stateful: false,
  ...{
    parallelism: 1,
    gated: false,
    careful: false,
    goodHash: 'h',
    recreatedBefore: 0,
    failedHash: undefined,
  },
  ...changes,
})
const NEXT: Partial<DesiredReplicas> = { aim: { revision: 2, templateHash: 'n' } }
const successor = (replica: number, changes: Partial<Assignment> = {}): Assignment =>
  assigned(replica, { id: `rep_n${replica}` as AssignmentId, revision: 2, templateHash: 'n', ...changes })
const three = [assigned(1), assigned(2), assigned(3)]
const numbers = (list: readonly { readonly replica: number }[]) => list.map(({ replica }) => replica)
const desiredStates = (list: readonly Assignment[]) => list.map(({ id, desired }) => `${id} ${desired}`)

describe('desired replicas compared with assignments', () => {
  test('as many as desired: nothing changes', () => {
    const plan = planReplicas(desiredOf(3), three, facts())
    expect(plan).toMatchObject({ kept: three, dropped: [], missing: [] })
    expect(isUnchanged(plan, three)).toBe(true)
  })

  test('more desired: the free numbers are missing, lowest first', () => {
    const { missing } = planReplicas(desiredOf(4), [assigned(1), assigned(3)], facts())
    expect(missing).toEqual([
      { replica: 2, revision: 1, templateHash: 'h' },
      { replica: 4, revision: 1, templateHash: 'h' },
    ])
  })

  test('two serving replicas of one number, both outdated: the one of the good revision stays, the other is removed', () => {
    const both = [assigned(1), successor(1)]
    const third = { aim: { revision: 3, templateHash: 'o' } }
    const plan = planReplicas(desiredOf(1, third), both, facts())
    expect(desiredStates(plan.kept)).toEqual(['rep_1 running', 'rep_n1 removed'])
    expect(plan.missing).toEqual([{ replica: 1, revision: 3, templateHash: 'o' }])
    const unknown = planReplicas(desiredOf(1, { ...third, goodHash: undefined }), both, facts())
    expect(desiredStates(unknown.kept)).toEqual(['rep_1 removed', 'rep_n1 running'])
    const sick = planReplicas(desiredOf(1, third), both, seeing({ rep_1: { reason: 'unhealthy' } }))
    expect(desiredStates(sick.kept)).toEqual(['rep_1 running', 'rep_n1 running'])
  })

  test('fewer desired: the highest numbers are removed', () => {
    const { kept, missing } = planReplicas(desiredOf(1), three, facts())
    expect(kept.map(({ desired }) => desired)).toEqual(['running', 'removed', 'removed'])
    expect(missing).toEqual([])
  })

  test('a removed assignment is kept until it is confirmed gone, and its number is free at once', () => {
    const leaving = [assigned(1), assigned(2, { desired: 'removed' })]
    const plan = planReplicas(desiredOf(2), leaving, facts())
    expect(plan).toMatchObject({ kept: leaving, dropped: [] })
    expect(numbers(plan.missing)).toEqual([2])
    const gone = planReplicas(desiredOf(1), leaving, seeing({ rep_2: { gone: true } }))
    expect(gone).toMatchObject({ kept: [leaving[0]], dropped: [leaving[1]], missing: [] })
  })

  test('replicas on a node that is no longer enrolled are dropped and missing', () => {
    const away = facts({ dispositionOf: (id) => (id === 'node_2' ? 'absent' : 'staying') })
    const plan = planReplicas(desiredOf(3), three, away)
    expect(plan).toMatchObject({ kept: [three[0], three[2]], dropped: [three[1]] })
    expect(numbers(plan.missing)).toEqual([2])
  })

  test('a replica on a drained node stays until its successor is ready, one at a time', () => {
    const leaving = { dispositionOf: (id: string) => (id === 'node_1' ? 'staying' : 'leaving') } as const
    const before = planReplicas(desiredOf(3), three, facts(leaving))
    expect(before).toMatchObject({ kept: three, dropped: [] })
    expect(numbers(before.missing)).toEqual([2])
    const both = [...three, assigned(2, { id: 'rep_4' as AssignmentId, nodeId: 'node_1' as NodeId })]
    const coming = planReplicas(desiredOf(3), both, { ...seeing({ rep_4: STARTING }), ...leaving })
    expect(coming).toMatchObject({ kept: both, missing: [] })
    const there = planReplicas(desiredOf(3), both, facts(leaving))
    expect(there.kept.map(({ desired }) => desired)).toEqual(['running', 'removed', 'running', 'running'])
    expect(numbers(there.missing)).toEqual([3])
  })
})

describe('replacing replicas', () => {
  test('start-first creates successors beside the old replicas, as many as parallelism allows', () => {
    const plan = planReplicas(desiredOf(3, { ...NEXT, parallelism: 2 }), three, facts())
    expect(plan).toMatchObject({ kept: three, dropped: [] })
    expect(plan.missing).toEqual([
      { replica: 1, revision: 2, templateHash: 'n' },
      { replica: 2, revision: 2, templateHash: 'n' },
    ])
  })

  test('start-first removes the old replica when its successor is ready, then replaces the next', () => {
    const both = [...three, successor(1)]
    const coming = planReplicas(desiredOf(3, NEXT), both, seeing({ rep_n1: STARTING }))
    expect(coming).toMatchObject({ kept: both, missing: [] })
    const { kept, missing } = planReplicas(desiredOf(3, NEXT), both, facts())
    expect(desiredStates(kept)).toEqual(['rep_1 removed', 'rep_2 running', 'rep_3 running', 'rep_n1 running'])
    expect(numbers(missing)).toEqual([2])
  })

  test('start-first keeps the old replica when its successor was ready and no longer is', () => {
    const both = [...three, successor(1)]
    const ill = seeing({ rep_n1: { reason: 'not_ready' } })
    expect(planReplicas(desiredOf(3, NEXT), both, ill).kept).toEqual(both)
  })

  test('stop-first creates a successor only when the old replica is confirmed gone', () => {
    const desired = desiredOf(2, { ...NEXT, stopFirst: true })
    const two = three.slice(0, 2)
    const first = planReplicas(desired, two, facts())
    expect(desiredStates(first.kept)).toEqual(['rep_1 removed', 'rep_2 running'])
    expect(first.missing).toEqual([])
    expect(planReplicas(desired, first.kept, facts()).missing).toEqual([])
    const gone = planReplicas(desired, first.kept, seeing({ rep_1: { gone: true } }))
    expect(numbers(gone.missing)).toEqual([1])
    expect(desiredStates(gone.kept)).toEqual(['rep_2 running'])
    const coming = planReplicas(desired, [assigned(2), successor(1)], seeing({ rep_n1: STARTING }))
    expect(desiredStates(coming.kept)).toEqual(['rep_2 running', 'rep_n1 running'])
    const ready = planReplicas(desired, [assigned(2), successor(1)], facts())
    expect(desiredStates(ready.kept)).toEqual(['rep_2 removed', 'rep_n1 running'])
  })

  test('a reached quota forces stop-first, and the plan lists the number', () => {
    const desired = desiredOf(2, NEXT)
    const full = planReplicas(desired, three.slice(0, 2), facts({ room: 2 }))
    expect(full).toMatchObject({ missing: [], forcedByQuota: [1] })
    expect(desiredStates(full.kept)).toEqual(['rep_1 removed', 'rep_2 running'])
    expect(planReplicas(desired, full.kept, facts({ room: 2 }))).toMatchObject({
      missing: [],
      forcedByQuota: [],
    })
    const gone = planReplicas(desired, full.kept, { ...seeing({ rep_1: { gone: true } }), room: 2 })
    expect(numbers(gone.missing)).toEqual([1])
    expect(desiredStates(gone.kept)).toEqual(['rep_2 running'])
  })

  test('a quota with room for one successor stops no old replica first, whatever is under way', () => {
    const desired = desiredOf(3, { ...NEXT, parallelism: 3 })
    const oneMore = { room: 4 }
    const first = planReplicas(desired, three, facts(oneMore))
    expect(first).toMatchObject({ kept: three, forcedByQuota: [] })
    expect(numbers(first.missing)).toEqual([1])
    const both = [...three, successor(1)]
    const coming = { ...seeing({ rep_n1: STARTING }), ...oneMore }
    expect(planReplicas(desired, both, coming)).toMatchObject({ kept: both, missing: [], forcedByQuota: [] })
    const served = planReplicas(desired, both, facts(oneMore))
    expect(desiredStates(served.kept)[0]).toBe('rep_1 removed')
    expect(served).toMatchObject({ missing: [], forcedByQuota: [] })
    expect(planReplicas(desired, served.kept, facts(oneMore))).toMatchObject({ forcedByQuota: [] })
    const gone = planReplicas(desired, served.kept, { ...seeing({ rep_1: { gone: true } }), ...oneMore })
    expect(numbers(gone.missing)).toEqual([2])
  })

  test.each<[string, readonly Assignment[], Partial<ReplicaFacts>]>([
    [
      'on a failed node, whose removal may never be confirmed',
      [...three, assigned(1, { id: 'rep_0' as AssignmentId, desired: 'removed', nodeId: 'lost' as NodeId })],
      { dispositionOf: (id) => (id === 'lost' ? 'failed' : 'staying') },
    ],
    ['that its own number will use again', [...three.slice(1), assigned(1, { desired: 'removed' })], {}],
  ])('a container %s is no room to wait for', (_where, assignments, changes) => {
    const desired = desiredOf(3, { ...NEXT, parallelism: 2 })
    const plan = planReplicas(desired, assignments, facts({ ...changes, room: assignments.length }))
    expect(plan.forcedByQuota).not.toEqual([])
  })

  test('outdated replicas that were never ready are all removed at once, except those of the good revision', () => {
    const unready = facts({ seen: () => STARTING })
    const plan = planReplicas(desiredOf(3, { ...NEXT, goodHash: undefined }), three, unready)
    expect(plan.kept.every(({ desired }) => desired === 'removed')).toBe(true)
    expect(numbers(plan.missing)).toEqual([1, 2, 3])
    const lastGood = planReplicas(desiredOf(3, NEXT), three, unready)
    expect(lastGood).toMatchObject({ kept: three })
    expect(numbers(lastGood.missing)).toEqual([1])
  })

  test('an unmet dependency prevents creating replicas and stopping old ones for them', () => {
    for (const stopFirst of [false, true]) {
      const plan = planReplicas(desiredOf(4, { ...NEXT, stopFirst, gated: true }), three, facts())
      expect(plan).toMatchObject({ kept: three, missing: [], held: true })
    }
    expect(planReplicas(desiredOf(3, { gated: true }), three, facts()).held).toBe(false)
  })

  test('a failed replica is recreated by the next attempt', () => {
    const both = [assigned(1), successor(1)]
    const bad = seeing({ rep_n1: { ...STARTING, restarts: 3 } })
    const same = planReplicas(desiredOf(1, { ...NEXT, recreatedBefore: 2 }), both, bad)
    expect(same).toMatchObject({ kept: both, missing: [] })
    const recreated = planReplicas(desiredOf(1, { ...NEXT, recreatedBefore: 3 }), both, bad)
    expect(desiredStates(recreated.kept)).toEqual(['rep_1 running', 'rep_n1 removed'])
    expect(numbers(recreated.missing)).toEqual([1])
  })
})

describe('an update on hold', () => {
  const held = desiredOf(2, { hold: true, failedHash: 'n' })
  const failed = { rep_n1: { ...STARTING, reason: 'unhealthy' } }

  test('replaces nothing and keeps failed replicas for inspection', () => {
    const all = [assigned(1), assigned(2), successor(1)]
    expect(planReplicas(held, all, seeing(failed))).toMatchObject({ kept: all, missing: [] })
    expect(planReplicas(held, all.slice(1), seeing(failed))).toMatchObject({ missing: [] })
  })

  test('stops no replica for which no successor can be created', () => {
    const leaving = facts({ dispositionOf: () => 'leaving', room: 2 })
    const all = [assigned(1), assigned(2)]
    const plan = planReplicas({ ...held, aim: undefined }, all, leaving)
    expect(plan).toMatchObject({ kept: all, missing: [], forcedByQuota: [] })
  })

  test('replaces a leaving replica by one like itself', () => {
    const all = [assigned(1), successor(1), successor(2)]
    const dispositionOf = (id: string) => (id === 'node_1' || id === 'node_2' ? 'leaving' : 'staying')
    const { kept, missing } = planReplicas({ ...held, parallelism: 2 }, all, {
      ...seeing(failed),
      dispositionOf,
    })
    expect(kept).toEqual(all)
    expect(missing).toEqual([
      { replica: 1, revision: 1, templateHash: 'h' },
      { replica: 2, revision: 2, templateHash: 'n' },
    ])
  })
})

describe('a lost node', () => {
  const lost = { dispositionOf: (id: string) => (id === 'node_2' ? 'failed' : 'staying') } as const

  test('has its replicas replaced at once, and removed when the successor has a node', () => {
    const before = planReplicas(desiredOf(3, { stopFirst: true }), three, facts(lost))
    expect(before).toMatchObject({ kept: three, dropped: [] })
    expect(numbers(before.missing)).toEqual([2])
    const both = [...three, assigned(2, { id: 'rep_4' as AssignmentId, nodeId: 'node_1' as NodeId })]
    const after = planReplicas(desiredOf(3), both, { ...seeing({ rep_4: STARTING }), ...lost })
    expect(after.kept.map(({ desired }) => desired)).toEqual(['running', 'removed', 'running', 'running'])
    expect(after.missing).toEqual([])
  })

  test('delays no successor by a removal that is not confirmed, not even with stop-first', () => {
    const going = [assigned(1), assigned(2, { desired: 'removed' })]
    const plan = planReplicas(desiredOf(2, { stopFirst: true }), going, facts(lost))
    expect(numbers(plan.missing)).toEqual([2])
    expect(planReplicas(desiredOf(2, { stopFirst: true }), going, facts()).missing).toEqual([])
  })

  test('that returns before a successor was found keeps its replica', () => {
    const plan = planReplicas(desiredOf(3), three, facts())
    expect(isUnchanged(plan, three)).toBe(true)
  })

  test('that returns beside a successor that is not ready keeps its serving replica', () => {
    const both = [...three, assigned(2, { id: 'rep_4' as AssignmentId, nodeId: 'node_1' as NodeId })]
    const plan = planReplicas(desiredOf(3), both, seeing({ rep_4: STARTING }))
    expect(desiredStates(plan.kept).slice(1)).toEqual(['rep_2 running', 'rep_3 running', 'rep_4 removed'])
  })

  test('gets no successor for a read-write mount, which may still be written to', () => {
    const plan = planReplicas(desiredOf(3, { stateful: true, stopFirst: true }), three, facts(lost))
    expect(plan).toMatchObject({ kept: three, missing: [] })
  })
})

describe('a node on which replicas must not run', () => {
  const second: (disposition: NodeDisposition) => Partial<ReplicaFacts> = (disposition) => ({
    dispositionOf: (id) => (id === 'node_2' ? disposition : 'staying'),
  })
  const there = assigned(2, { id: 'rep_4' as AssignmentId, nodeId: 'node_1' as NodeId })

  test.each([false, true])(
    'stops a barred replica at once and requests a successor; stop-first %s',
    (stopFirst) => {
      const plan = planReplicas(desiredOf(3, { stopFirst }), three, facts(second('barred')))
      expect(desiredStates(plan.kept)).toEqual(['rep_1 running', 'rep_2 removed', 'rep_3 running'])
      expect(numbers(plan.missing)).toEqual(stopFirst ? [] : [2])
    },
  )

  test('keeps a barred replica while its successor starts', () => {
    const plan = planReplicas(desiredOf(3), [...three, there], {
      ...seeing({ rep_4: STARTING }),
      ...second('barred'),
    })
    expect(isUnchanged(plan, [...three, there])).toBe(true)
    const ready = planReplicas(desiredOf(3), [...three, there], facts(second('barred')))
    expect(desiredStates(ready.kept)[1]).toBe('rep_2 removed')
  })

  test.each<[string, Partial<DesiredReplicas>]>([
    ['an unmet dependency', { gated: true }],
    ['a read-write mount', { stateful: true, stopFirst: true }],
    ['a paused update', { hold: true, failedHash: 'n' }],
    ['a paused update of a failed replica', { hold: true, failedHash: 'h' }],
  ])('stops a barred replica also with %s', (_what, changes) => {
    const seen = changes.failedHash === 'h' ? seeing({ rep_2: { state: 'running' } }) : facts()
    const plan = planReplicas(desiredOf(3, changes), three, { ...seen, ...second('barred') })
    expect(desiredStates(plan.kept)[1]).toBe('rep_2 removed')
  })

  test.each<[string, Partial<DesiredReplicas>, Partial<ReplicaFacts>]>([
    ['no other changes', {}, {}],
    ['stop-first', { stopFirst: true }, {}],
    ['a full quota', {}, { room: 3 }],
    ['another template', { ...NEXT, stopFirst: true, parallelism: 3 }, { dispositionOf: () => 'stranded' }],
    ['a replica that is not ready yet', { goodHash: undefined }, seeing({ rep_2: STARTING })],
  ])('keeps a stranded replica and requests no successor; %s', (_what, changes, more) => {
    const known = {
      ...facts(second('stranded')),
      ...more,
      ...('dispositionOf' in more ? {} : second('stranded')),
    }
    const plan = planReplicas(desiredOf(3, changes), three, { ...known, seen: more.seen ?? known.seen })
    expect(isUnchanged(plan, three)).toBe(true)
    expect(plan.missing).toEqual([])
  })

  test('does not let a stranded replica use up the turn of another that can move', () => {
    const dispositions: { readonly [id: string]: NodeDisposition } = { node_1: 'stranded', node_2: 'leaving' }
    const plan = planReplicas(
      desiredOf(3),
      three,
      facts({ dispositionOf: (id) => dispositions[id] ?? 'staying' }),
    )
    expect(numbers(plan.missing)).toEqual([2])
  })
})

describe('a quota below the number of replicas', () => {
  test.each([false, true])(
    'stops nothing, and the successor is requested all the same; stop-first %s',
    (stopFirst) => {
      const plan = planReplicas(desiredOf(3, { ...NEXT, stopFirst }), three, facts({ room: 2 }))
      expect(plan).toMatchObject({ kept: three, forcedByQuota: [] })
      expect(numbers(plan.missing)).toEqual([1])
    },
  )
})
