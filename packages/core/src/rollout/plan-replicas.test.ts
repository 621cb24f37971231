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
const wishing = (count: number, changes: Partial<DesiredReplicas> = {}): DesiredReplicas => ({
  ...{ count, aim: { revision: 1, templateHash: 'h' }, hold: false, stopFirst: false, stateful: false },
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
const wishes = (list: readonly Assignment[]) => list.map(({ id, desired }) => `${id} ${desired}`)

describe('wished replicas against assigned ones', () => {
  test('as many as wished: nothing changes', () => {
    const plan = planReplicas(wishing(3), three, facts())
    expect(plan).toMatchObject({ kept: three, dropped: [], missing: [] })
    expect(isUnchanged(plan, three)).toBe(true)
  })

  test('more wished: the free numbers are missing, lowest first', () => {
    const { missing } = planReplicas(wishing(4), [assigned(1), assigned(3)], facts())
    expect(missing).toEqual([
      { replica: 2, revision: 1, templateHash: 'h' },
      { replica: 4, revision: 1, templateHash: 'h' },
    ])
  })

  test('two of one number that both serve and are both not wished: what ran well stays, and one is enough', () => {
    const both = [assigned(1), successor(1)]
    const third = { aim: { revision: 3, templateHash: 'o' } }
    const plan = planReplicas(wishing(1, third), both, facts())
    expect(wishes(plan.kept)).toEqual(['rep_1 running', 'rep_n1 removed'])
    expect(plan.missing).toEqual([{ replica: 1, revision: 3, templateHash: 'o' }])
    const unknown = planReplicas(wishing(1, { ...third, goodHash: undefined }), both, facts())
    expect(wishes(unknown.kept)).toEqual(['rep_1 removed', 'rep_n1 running'])
    const sick = planReplicas(wishing(1, third), both, seeing({ rep_1: { reason: 'unhealthy' } }))
    expect(wishes(sick.kept)).toEqual(['rep_1 running', 'rep_n1 running'])
  })

  test('fewer wished: the highest numbers go', () => {
    const { kept, missing } = planReplicas(wishing(1), three, facts())
    expect(kept.map(({ desired }) => desired)).toEqual(['running', 'removed', 'removed'])
    expect(missing).toEqual([])
  })

  test('an assignment that goes stays until it is confirmed gone, and its number is free at once', () => {
    const leaving = [assigned(1), assigned(2, { desired: 'removed' })]
    const plan = planReplicas(wishing(2), leaving, facts())
    expect(plan).toMatchObject({ kept: leaving, dropped: [] })
    expect(numbers(plan.missing)).toEqual([2])
    const gone = planReplicas(wishing(1), leaving, seeing({ rep_2: { gone: true } }))
    expect(gone).toMatchObject({ kept: [leaving[0]], dropped: [leaving[1]], missing: [] })
  })

  test('replicas of a node that is no longer enrolled are dropped and missing', () => {
    const away = facts({ dispositionOf: (id) => (id === 'node_2' ? 'absent' : 'staying') })
    const plan = planReplicas(wishing(3), three, away)
    expect(plan).toMatchObject({ kept: [three[0], three[2]], dropped: [three[1]] })
    expect(numbers(plan.missing)).toEqual([2])
  })

  test('a replica of a node that is emptied stays until its successor is ready; one at a time', () => {
    const leaving = { dispositionOf: (id: string) => (id === 'node_1' ? 'staying' : 'leaving') } as const
    const before = planReplicas(wishing(3), three, facts(leaving))
    expect(before).toMatchObject({ kept: three, dropped: [] })
    expect(numbers(before.missing)).toEqual([2])
    const both = [...three, assigned(2, { id: 'rep_4' as AssignmentId, nodeId: 'node_1' as NodeId })]
    const coming = planReplicas(wishing(3), both, { ...seeing({ rep_4: STARTING }), ...leaving })
    expect(coming).toMatchObject({ kept: both, missing: [] })
    const there = planReplicas(wishing(3), both, facts(leaving))
    expect(there.kept.map(({ desired }) => desired)).toEqual(['running', 'removed', 'running', 'running'])
    expect(numbers(there.missing)).toEqual([3])
  })
})

describe('replacing', () => {
  test('start-first: successors beside the old ones, as many as may be at once', () => {
    const plan = planReplicas(wishing(3, { ...NEXT, parallelism: 2 }), three, facts())
    expect(plan).toMatchObject({ kept: three, dropped: [] })
    expect(plan.missing).toEqual([
      { replica: 1, revision: 2, templateHash: 'n' },
      { replica: 2, revision: 2, templateHash: 'n' },
    ])
  })

  test('start-first: the old one goes when the successor is ready, and the next begins', () => {
    const both = [...three, successor(1)]
    const coming = planReplicas(wishing(3, NEXT), both, seeing({ rep_n1: STARTING }))
    expect(coming).toMatchObject({ kept: both, missing: [] })
    const { kept, missing } = planReplicas(wishing(3, NEXT), both, facts())
    expect(wishes(kept)).toEqual(['rep_1 removed', 'rep_2 running', 'rep_3 running', 'rep_n1 running'])
    expect(numbers(missing)).toEqual([2])
  })

  test('start-first: a successor that was ready and is not any more lets nobody go', () => {
    const both = [...three, successor(1)]
    const ill = seeing({ rep_n1: { reason: 'not_ready' } })
    expect(planReplicas(wishing(3, NEXT), both, ill).kept).toEqual(both)
  })

  test('stop-first: the successor is made only when the old one is confirmed gone', () => {
    const wish = wishing(2, { ...NEXT, stopFirst: true })
    const two = three.slice(0, 2)
    const first = planReplicas(wish, two, facts())
    expect(wishes(first.kept)).toEqual(['rep_1 removed', 'rep_2 running'])
    expect(first.missing).toEqual([])
    expect(planReplicas(wish, first.kept, facts()).missing).toEqual([])
    const gone = planReplicas(wish, first.kept, seeing({ rep_1: { gone: true } }))
    expect(numbers(gone.missing)).toEqual([1])
    expect(wishes(gone.kept)).toEqual(['rep_2 running'])
    const coming = planReplicas(wish, [assigned(2), successor(1)], seeing({ rep_n1: STARTING }))
    expect(wishes(coming.kept)).toEqual(['rep_2 running', 'rep_n1 running'])
    const ready = planReplicas(wish, [assigned(2), successor(1)], facts())
    expect(wishes(ready.kept)).toEqual(['rep_2 removed', 'rep_n1 running'])
  })

  test('a reached quota forces stop-first, and says so', () => {
    const wish = wishing(2, NEXT)
    const full = planReplicas(wish, three.slice(0, 2), facts({ room: 2 }))
    expect(full).toMatchObject({ missing: [], forcedByQuota: [1] })
    expect(wishes(full.kept)).toEqual(['rep_1 removed', 'rep_2 running'])
    expect(planReplicas(wish, full.kept, facts({ room: 2 }))).toMatchObject({
      missing: [],
      forcedByQuota: [],
    })
    const gone = planReplicas(wish, full.kept, { ...seeing({ rep_1: { gone: true } }), room: 2 })
    expect(numbers(gone.missing)).toEqual([1])
    expect(wishes(gone.kept)).toEqual(['rep_2 running'])
  })

  test('what never was ready and is not wished any more goes at once, all of it; what ran well does not', () => {
    const unready = facts({ seen: () => STARTING })
    const plan = planReplicas(wishing(3, { ...NEXT, goodHash: undefined }), three, unready)
    expect(plan.kept.every(({ desired }) => desired === 'removed')).toBe(true)
    expect(numbers(plan.missing)).toEqual([1, 2, 3])
    const lastGood = planReplicas(wishing(3, NEXT), three, unready)
    expect(lastGood).toMatchObject({ kept: three })
    expect(numbers(lastGood.missing)).toEqual([1])
  })

  test('before a gate nothing is made and nothing is taken away for it', () => {
    for (const stopFirst of [false, true]) {
      const plan = planReplicas(wishing(4, { ...NEXT, stopFirst, gated: true }), three, facts())
      expect(plan).toMatchObject({ kept: three, missing: [], held: true })
    }
    expect(planReplicas(wishing(3, { gated: true }), three, facts()).held).toBe(false)
  })

  test('a failed attempt is made anew by the next one', () => {
    const both = [assigned(1), successor(1)]
    const bad = seeing({ rep_n1: { ...STARTING, restarts: 3 } })
    const same = planReplicas(wishing(1, { ...NEXT, recreatedBefore: 2 }), both, bad)
    expect(same).toMatchObject({ kept: both, missing: [] })
    const anew = planReplicas(wishing(1, { ...NEXT, recreatedBefore: 3 }), both, bad)
    expect(wishes(anew.kept)).toEqual(['rep_1 running', 'rep_n1 removed'])
    expect(numbers(anew.missing)).toEqual([1])
  })
})

describe('holding', () => {
  const held = wishing(2, { hold: true, failedHash: 'n' })
  const failed = { rep_n1: { ...STARTING, reason: 'unhealthy' } }

  test('nothing is replaced, and what failed stays to be looked at', () => {
    const all = [assigned(1), assigned(2), successor(1)]
    expect(planReplicas(held, all, seeing(failed))).toMatchObject({ kept: all, missing: [] })
    expect(planReplicas(held, all.slice(1), seeing(failed))).toMatchObject({ missing: [] })
  })

  test('nothing is taken away for which nothing could be made', () => {
    const leaving = facts({ dispositionOf: () => 'leaving', room: 2 })
    const all = [assigned(1), assigned(2)]
    const plan = planReplicas({ ...held, aim: undefined }, all, leaving)
    expect(plan).toMatchObject({ kept: all, missing: [], forcedByQuota: [] })
  })

  test('what leaves is replaced by one like itself', () => {
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

  test('its replicas are replaced at once, and given up when the successor has a node', () => {
    const before = planReplicas(wishing(3, { stopFirst: true }), three, facts(lost))
    expect(before).toMatchObject({ kept: three, dropped: [] })
    expect(numbers(before.missing)).toEqual([2])
    const both = [...three, assigned(2, { id: 'rep_4' as AssignmentId, nodeId: 'node_1' as NodeId })]
    const after = planReplicas(wishing(3), both, { ...seeing({ rep_4: STARTING }), ...lost })
    expect(after.kept.map(({ desired }) => desired)).toEqual(['running', 'removed', 'running', 'running'])
    expect(after.missing).toEqual([])
  })

  test('what is on its way out there is not waited for, also where the old one must be gone first', () => {
    const going = [assigned(1), assigned(2, { desired: 'removed' })]
    const plan = planReplicas(wishing(2, { stopFirst: true }), going, facts(lost))
    expect(numbers(plan.missing)).toEqual([2])
    expect(planReplicas(wishing(2, { stopFirst: true }), going, facts()).missing).toEqual([])
  })

  test('when it returns before a successor was found, all is as it was', () => {
    const plan = planReplicas(wishing(3), three, facts())
    expect(isUnchanged(plan, three)).toBe(true)
  })

  test('when it returns beside a successor that is not ready, the one that serves stays', () => {
    const both = [...three, assigned(2, { id: 'rep_4' as AssignmentId, nodeId: 'node_1' as NodeId })]
    const plan = planReplicas(wishing(3), both, seeing({ rep_4: STARTING }))
    expect(wishes(plan.kept).slice(1)).toEqual(['rep_2 running', 'rep_3 running', 'rep_4 removed'])
  })

  test('of a read-write mount nothing is replaced: it may still be written to', () => {
    const plan = planReplicas(wishing(3, { stateful: true, stopFirst: true }), three, facts(lost))
    expect(plan).toMatchObject({ kept: three, missing: [] })
  })
})

describe('a node where they may not be', () => {
  const second: (disposition: NodeDisposition) => Partial<ReplicaFacts> = (disposition) => ({
    dispositionOf: (id) => (id === 'node_2' ? disposition : 'staying'),
  })
  const there = assigned(2, { id: 'rep_4' as AssignmentId, nodeId: 'node_1' as NodeId })

  test.each([false, true])('barred: it goes at once, and is missing; stop-first %s', (stopFirst) => {
    const plan = planReplicas(wishing(3, { stopFirst }), three, facts(second('barred')))
    expect(wishes(plan.kept)).toEqual(['rep_1 running', 'rep_2 removed', 'rep_3 running'])
    expect(numbers(plan.missing)).toEqual(stopFirst ? [] : [2])
  })

  test('barred, with a successor on its way: it is waited for', () => {
    const plan = planReplicas(wishing(3), [...three, there], {
      ...seeing({ rep_4: STARTING }),
      ...second('barred'),
    })
    expect(isUnchanged(plan, [...three, there])).toBe(true)
    const ready = planReplicas(wishing(3), [...three, there], facts(second('barred')))
    expect(wishes(ready.kept)[1]).toBe('rep_2 removed')
  })

  test.each<[string, Partial<DesiredReplicas>]>([
    ['a gate', { gated: true }],
    ['a read-write mount', { stateful: true, stopFirst: true }],
    ['a pause', { hold: true, failedHash: 'n' }],
    ['a pause, of what failed', { hold: true, failedHash: 'h' }],
  ])('barred: it goes also with %s', (_what, changes) => {
    const seen = changes.failedHash === 'h' ? seeing({ rep_2: { state: 'running' } }) : facts()
    const plan = planReplicas(wishing(3, changes), three, { ...seen, ...second('barred') })
    expect(wishes(plan.kept)[1]).toBe('rep_2 removed')
  })

  test.each<[string, Partial<DesiredReplicas>, Partial<ReplicaFacts>]>([
    ['as it is', {}, {}],
    ['stop-first', { stopFirst: true }, {}],
    ['the quota full', {}, { room: 3 }],
    ['another template', { ...NEXT, stopFirst: true, parallelism: 3 }, { dispositionOf: () => 'stranded' }],
    ['not ready yet', { goodHash: undefined }, seeing({ rep_2: STARTING })],
  ])('stranded: it stays, and nobody asks in vain; %s', (_what, changes, more) => {
    const known = {
      ...facts(second('stranded')),
      ...more,
      ...('dispositionOf' in more ? {} : second('stranded')),
    }
    const plan = planReplicas(wishing(3, changes), three, { ...known, seen: more.seen ?? known.seen })
    expect(isUnchanged(plan, three)).toBe(true)
    expect(plan.missing).toEqual([])
  })

  test('stranded takes no turn from another that can go', () => {
    const dispositions: { readonly [id: string]: NodeDisposition } = { node_1: 'stranded', node_2: 'leaving' }
    const plan = planReplicas(
      wishing(3),
      three,
      facts({ dispositionOf: (id) => dispositions[id] ?? 'staying' }),
    )
    expect(numbers(plan.missing)).toEqual([2])
  })
})

describe('a quota below what is there', () => {
  test.each([false, true])(
    'shrinks nothing: what is to be replaced asks in vain; stop-first %s',
    (stopFirst) => {
      const plan = planReplicas(wishing(3, { ...NEXT, stopFirst }), three, facts({ room: 2 }))
      expect(plan).toMatchObject({ kept: three, forcedByQuota: [] })
      expect(numbers(plan.missing)).toEqual([1])
    },
  )
})
