// Tests the decision table for one replica number: the table in the header comment equals the table in the code, every
// cell is reached by some combination of assignments and decides as stated, and no empty cell can be reached.

import { readFileSync } from 'node:fs'
import type { Assignment, AssignmentId, NodeId, Observation } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import { classifyReplicas, type ReplicaClass } from './classify-replicas.ts'
import type { DesiredReplicas, NodeDisposition, ReplicaFacts } from './desired-replicas.ts'
import { DECISION_TABLE, type FittingState, planNumber } from './plan-replicas-number.ts'
import { isServing } from './replica-health.ts'

type Seen = Pick<Observation, 'state' | 'reason' | 'restarts' | 'gone'>
const READY: Seen = { state: 'ready', reason: '', restarts: 0, gone: false }
const UNHEALTHY: Seen = { ...READY, state: 'running', reason: 'unhealthy' }
const STARTING: Seen = { ...READY, state: 'starting' }

/** Everything that distinguishes one assignment of a replica number from another. */
interface ExampleReplica {
  readonly desired: Assignment['desired']
  readonly templateHash: 'aim' | 'good' | 'failed'
  readonly disposition: NodeDisposition
  readonly seen: Seen
}

const REPLICAS: readonly ExampleReplica[] = (['running', 'removed'] as const).flatMap((desired) =>
  (['aim', 'good', 'failed'] as const).flatMap((templateHash) =>
    (['staying', 'leaving', 'stranded', 'barred', 'failed'] as const).flatMap((disposition) =>
      [READY, UNHEALTHY, STARTING].map((seen) => ({ desired, templateHash, disposition, seen })),
    ),
  ),
)

const DESIRED: DesiredReplicas = {
  count: 1,
  aim: { revision: 2, templateHash: 'aim' },
  hold: false,
  stopFirst: false,
  stateful: false,
  parallelism: 1,
  careful: true,
  gated: false,
  goodHash: 'good',
  recreatedBefore: 0,
  failedHash: undefined,
}
const VARIANTS: readonly DesiredReplicas[] = [
  DESIRED,
  { ...DESIRED, gated: true },
  { ...DESIRED, stateful: true, stopFirst: true },
  { ...DESIRED, recreatedBefore: 2 },
  { ...DESIRED, goodHash: undefined },
  { ...DESIRED, hold: true, failedHash: 'failed' },
]

function exampleOf(examples: readonly ExampleReplica[]) {
  const group = examples.map(
    ({ desired, templateHash }, index): Assignment => ({
      id: `rep_${index}` as AssignmentId,
      replica: 1,
      nodeId: `node_${index}` as NodeId,
      revision: 1,
      templateHash,
      desired,
      assignedAt: '',
    }),
  )
  const indexOf = (id: string) => Number(id.slice(id.indexOf('_') + 1))
  const facts: ReplicaFacts = {
    dispositionOf: (id) => examples[indexOf(id)]?.disposition ?? 'absent',
    seen: (id) => examples[indexOf(id)]?.seen,
    room: 100,
  }
  return { group, facts }
}

const numbers = [
  ...REPLICAS.map((one) => [one]),
  ...REPLICAS.flatMap((one) => REPLICAS.map((other) => [one, other])),
]

/**
 * Test cases with three assignments of one replica number: one of the last good revision, a superseded one that has just
 * become ready, and one that fits or does not fit.
 */
const STAYING = { desired: 'running', disposition: 'staying' } as const
const superseded = { ...STAYING, templateHash: 'failed', seen: READY } as const
const good = { ...STAYING, templateHash: 'good', seen: READY } as const
const triples: readonly (readonly ExampleReplica[])[] = [
  [good, superseded, { ...STAYING, templateHash: 'aim', seen: READY }],
  [good, superseded, { ...STAYING, templateHash: 'aim', seen: STARTING }],
  [good, superseded, { ...STAYING, templateHash: 'failed', seen: STARTING }],
]

function fittingOf(classes: ReadonlyMap<Assignment, ReplicaClass>): FittingState {
  const all = [...classes.values()]
  if (all.includes('serving')) return 'serving'
  return all.includes('coming') ? 'coming' : 'none'
}

describe('the decision table of a replica number', () => {
  test('is printed in the header of its file', () => {
    const source = readFileSync(new URL('./plan-replicas-number.ts', import.meta.url), 'utf8')
    const rows = [...source.matchAll(/^\/\/ {3}(\w+) +\| *(\w*) *\| *(\w*) *\| *(\w*)$/gm)]
    const printed = rows
      .filter(([, name]) => name !== 'class')
      .map(([, name = '', serving, coming, none]) => [name, { serving, coming, none }])
    const inCode = Object.entries(DECISION_TABLE).map(([name, row]) => [
      name,
      { serving: row.serving ?? '', coming: row.coming ?? '', none: row.none ?? '' },
    ])
    expect(printed).toEqual(inCode)
  })

  test('decides every number of up to two assignments, and each of its cells is reached', () => {
    const reached = new Set<string>()
    const wrong: string[] = []
    for (const desired of VARIANTS)
      for (const examples of [...numbers, ...triples]) {
        const { group, facts } = exampleOf(examples)
        const classes = classifyReplicas(desired, group, facts)
        const fitting = fittingOf(classes)
        const { leaving } = planNumber(desired, { replica: 1, group, room: 1 }, facts)
        if (classes.size !== group.length) wrong.push(`unclassified: ${JSON.stringify(examples)}`)
        for (const [each, found] of classes) {
          const verdict = DECISION_TABLE[found][fitting]
          reached.add(`${found} ${fitting} ${verdict}`)
          if (leaving.includes(each) !== (verdict === 'leave'))
            wrong.push(`${found} ${fitting}: ${JSON.stringify(examples)}`)
        }
      }
    const cells = Object.entries(DECISION_TABLE).flatMap(([name, row]) =>
      Object.entries(row).map(([fitting, verdict]) => `${name} ${fitting} ${verdict}`),
    )
    expect(wrong).toEqual([])
    expect([...reached].sort()).toEqual(cells.sort())
  })

  test('never stops the last serving replica of a number, except where it must not run', () => {
    const wrong: string[] = []
    for (const desired of VARIANTS)
      for (const examples of numbers) {
        const { group, facts } = exampleOf(examples)
        const { leaving } = planNumber(desired, { replica: 1, group, room: 1 }, facts)
        const serving = group.filter((each) => each.desired === 'running' && isServing(each, facts))
        const allowed = serving.filter(({ nodeId }) => facts.dispositionOf(nodeId) !== 'barred')
        if (allowed.length > 0 && serving.every((each) => leaving.includes(each)))
          wrong.push(JSON.stringify({ desired, examples }))
      }
    expect(wrong).toEqual([])
  })
})

describe('a replica number without a fitting assignment', () => {
  const old = { ...STAYING, templateHash: 'good', seen: READY } as const
  const going = { ...old, desired: 'removed' } as const
  const planOf = (examples: readonly ExampleReplica[], changes: Partial<DesiredReplicas>, room: number) => {
    const { group, facts } = exampleOf(examples)
    return planNumber({ ...DESIRED, ...changes }, { replica: 1, group, room }, facts)
  }
  const created = { replica: 1, revision: 2, templateHash: 'aim' }

  test.each([
    ['nothing at all', [], {}, 5, { empty: created, moving: false }],
    ['nothing known to create', [], { aim: undefined }, 5, { moving: false }],
    ['an old one that serves', [old], {}, 5, { outdated: { successor: created }, moving: false }],
    ['one being removed, start-first', [going], {}, 5, { empty: created, moving: false }],
    ['one being removed, stop-first', [going], { stopFirst: true }, 5, { moving: true }],
    ['one being removed, without room', [going], {}, 0, { moving: true }],
    [
      'one being removed from a lost node',
      [{ ...going, disposition: 'failed' }],
      { stopFirst: true },
      5,
      { empty: created, moving: false },
    ],
    [
      'one being removed from a lost node that may still write',
      [{ ...going, disposition: 'failed' }],
      { stopFirst: true, stateful: true },
      5,
      { moving: true },
    ],
    [
      'an old one that no other node accepts',
      [{ ...old, disposition: 'stranded' }],
      {},
      5,
      { outdated: { successor: created, stranded: true }, moving: false },
    ],
  ] satisfies [string, ExampleReplica[], Partial<DesiredReplicas>, number, object][])(
    'with %s',
    (_name, examples, changes, room, expected) => {
      expect(planOf(examples, changes, room)).toMatchObject(expected)
    },
  )

  test('on hold gets one like its old replica', () => {
    const leaving = { ...old, disposition: 'leaving' } as const
    expect(planOf([leaving], { hold: true }, 5).outdated?.successor).toEqual({
      replica: 1,
      revision: 1,
      templateHash: 'good',
    })
  })
})
