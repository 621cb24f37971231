// What a dry run says of a rollout: which replicas, why, in which order, and how few are ready on the way.

import type { NodeId } from '@holdfast/contract'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { describeRollout, type RolloutFacts, type RunningReplica } from './describe-rollout.ts'

const WISHED = 'wished'

/** `1` on node n1 of an older template and ready; `2!` of the wished one; `3?` not ready. */
function replicas(...texts: string[]): RunningReplica[] {
  return texts.map((text) => {
    const replica = Number.parseInt(text, 10)
    return {
      ...{ replica, nodeId: `node_${replica}` as NodeId, nodeName: `n${replica}` },
      templateHash: text.includes('!') ? WISHED : 'older',
      ready: !text.includes('?'),
    }
  })
}

const facts = (running: RunningReplica[], parts: Partial<RolloutFacts> = {}): RolloutFacts => ({
  ...{ running, templateHash: WISHED, restart: false, quotaReached: false },
  spec: specOf(running.length, 'start-first', 1),
  ...parts,
})

const specOf = (count: number, order: 'start-first' | 'stop-first', parallelism: number) => ({
  replicas: count,
  update: { order, parallelism, failureAction: 'rollback' as const, progressDeadline: '300s' },
})

const textOf = (given: RolloutFacts): string[] => {
  const { steps, summary } = describeRollout(given)
  return [...steps.map(({ text, lowestReady }) => `${lowestReady}: ${text}`), summary]
}

describe('describeRollout', () => {
  test('start-first: each has a successor before it stops, so none is missing on the way', () => {
    expect(textOf(facts(replicas('2', '1')))).toEqual([
      '2: A successor of replica 1 on n1 starts; it stops once its successor is ready.',
      '2: A successor of replica 2 on n2 starts; it stops once its successor is ready.',
      '2 replicas are recreated in 2 steps, start-first; at least 2 ready on the way.',
    ])
  })

  test('stop-first, two at a time', () => {
    expect(textOf(facts(replicas('1', '2', '3'), { spec: specOf(3, 'stop-first', 2) }))).toEqual([
      '1: Replicas 1 on n1, 2 on n2 stop, then each successor starts.',
      '2: Replica 3 on n3 stops, then its successor starts.',
      '3 replicas are recreated in 2 steps, stop-first; at least 1 ready on the way.',
    ])
  })

  test('a reached quota forces stop-first, and says so', () => {
    const { order, summary } = describeRollout(facts(replicas('1'), { quotaReached: true }))
    expect([order, summary]).toEqual([
      'stop-first',
      '1 replica is recreated in 1 step, stop-first, since the quota of containers is reached; at least 0 ready on the way.',
    ])
  })

  test('a volume that is written to forces stop-first', () => {
    const mount = { volume: 'vol_1', target: '/data', type: 'volume' as const, readOnly: false }
    const spec = { ...specOf(1, 'start-first', 1), volumes: [mount] }
    const { order, summary } = describeRollout(facts(replicas('1'), { spec }))
    expect([order, summary]).toEqual([
      'stop-first',
      expect.stringContaining('since a volume is mounted read-write'),
    ])
  })

  test('what is of the wished template stays; a restart makes all anew', () => {
    const reasons = (given: RolloutFacts) =>
      describeRollout(given).steps.flatMap((step) =>
        step.replicas.map(({ replica, reason }) => `${replica} ${reason}`),
      )
    expect(reasons(facts(replicas('1!', '2', '3!')))).toEqual(['2 template_changed'])
    expect(reasons(facts(replicas('1', '2'), { restart: true }))).toEqual(['1 restart', '2 restart'])
    expect(textOf(facts(replicas('1!', '2!')))).toEqual(['Nothing is recreated.'])
  })

  test('a replica that already has its successor is not made again; one that goes is not recreated', () => {
    const stepsOf = (given: RolloutFacts) => describeRollout(given).steps.map((step) => step.replicas.length)
    expect(stepsOf(facts(replicas('1', '1!'), { spec: specOf(1, 'start-first', 1) }))).toEqual([])
    expect(stepsOf(facts(replicas('1', '1'), { spec: specOf(1, 'start-first', 1) }))).toEqual([1])
    expect(stepsOf(facts(replicas('1', '2', '3'), { spec: specOf(1, 'start-first', 1) }))).toEqual([1])
    expect(stepsOf(facts(replicas('1', '2'), { spec: specOf(0, 'start-first', 1) }))).toEqual([])
  })

  test('nothing before the image is resolved', () => {
    expect(textOf(facts(replicas('1'), { templateHash: undefined }))).toEqual([
      'No registry has answered for the image yet, so nothing is recreated.',
    ])
  })

  test('one that is not ready takes nothing away, and is ready afterwards', () => {
    expect(textOf(facts(replicas('1?', '2'), { spec: specOf(2, 'stop-first', 1) })).slice(0, 2)).toEqual([
      '1: Replica 1 on n1 stops, then its successor starts.',
      '1: Replica 2 on n2 stops, then its successor starts.',
    ])
  })

  test('whatever runs: each older replica once, never more than parallelism at a time, never fewer than told', () => {
    const running = fc.array(
      fc
        .tuple(fc.integer({ min: 1, max: 12 }), fc.boolean(), fc.boolean())
        .map(([replica, ready, wished]) => ({
          ...{ replica, nodeId: `node_${replica}` as NodeId, nodeName: `n${replica}`, ready },
          templateHash: wished ? WISHED : 'older',
        })),
      { maxLength: 20 },
    )
    const orders = fc.constantFrom('start-first' as const, 'stop-first' as const)
    fc.assert(
      fc.property(
        running,
        fc.nat({ max: 12 }),
        orders,
        fc.integer({ min: 1, max: 4 }),
        (given, count, order, width) => {
          const { steps, lowestReady } = describeRollout(facts(given, { spec: specOf(count, order, width) }))
          const made = steps.flatMap((step) => step.replicas.map(({ replica }) => replica))
          expect(new Set(made).size).toBe(made.length)
          expect(made).toEqual([...made].sort((left, right) => left - right))
          const inside = given.filter(({ replica }) => replica <= count)
          const due = new Set(inside.map(({ replica }) => replica))
          for (const { replica, templateHash } of inside) if (templateHash === WISHED) due.delete(replica)
          expect(new Set(made)).toEqual(due)
          const ready = new Set(inside.filter((each) => each.ready).map(({ replica }) => replica)).size
          expect(
            steps.every((step) => step.replicas.length <= width && step.lowestReady >= lowestReady),
          ).toBe(true)
          expect(lowestReady).toBeGreaterThanOrEqual(
            order === 'start-first' ? ready : Math.max(0, ready - width),
          )
          expect(lowestReady).toBeLessThanOrEqual(ready)
        },
      ),
      { numRuns: 500 },
    )
  })
})
