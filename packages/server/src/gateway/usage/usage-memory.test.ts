import type { AssignmentId, NodeId, SampleRound, TenantId, UsageMessage } from '@holdfast/contract'
import { USAGE_SLOTS } from '@holdfast/core/node'
import { describe, expect, test } from 'vitest'
import type { GatewayContext } from '../deps.ts'
import { createReadUsage, createReadUsageOfAll, type UsageQuestion } from './ask-usage.ts'
import { isValidRound, isValidUsage } from './check-usage.ts'
import { MAX_ANSWERED_SERIES } from './node-usage.ts'
import { createUsageMemory } from './usage-memory.ts'

const idOf = (number: number) => `rep_${number}` as AssignmentId
const node = { tenant: 'acme' as TenantId, nodeId: 'node_1' as NodeId }
const STEP_MS = 10_000
const ALL = () => true

const round = (containers: SampleRound['containers'], over: Partial<SampleRound> = {}): SampleRound => ({
  ageMs: 0,
  node: { cpuMillis: 1500, diskBytes: 9 },
  unread: 0,
  containers,
  ...over,
})

function memoryAt(startMs = 0, maxPerTenant?: number) {
  const time = { nowMs: startMs }
  const limit = maxPerTenant === undefined ? {} : { maxPerTenant }
  const memory = createUsageMemory({ stepMs: STEP_MS, meanMs: 60_000, now: () => time.nowMs, ...limit })
  return { memory, time }
}

describe('the memory of usage', () => {
  test('keeps samples by slot, with gaps where none arrived', () => {
    const { memory, time } = memoryAt()
    for (const cpuMillis of [100, undefined, 300]) {
      if (cpuMillis !== undefined)
        memory.accept(
          node,
          round([{ id: idOf(1), cpuMillis, memoryBytes: 7, throttledPercent: 20, pids: 2 }]),
          ALL,
        )
      time.nowMs += STEP_MS
    }
    time.nowMs -= STEP_MS
    expect(memory.read(node, 4)).toMatchObject({
      cpuMillis: [null, 1500, null, 1500],
      loadMillis: [null, null, null, null],
      diskBytes: 9,
      series: [
        {
          cpuMillis: [null, 100, null, 300],
          rx: [null, null, null, null],
          lastMinute: { cpuMillis: 200, memoryBytes: 7 },
          throttledPercent: 20,
          pids: 2,
        },
      ],
    })
    expect(memory.read(node, 0)).toMatchObject({
      cpuMillis: [],
      series: [{ cpuMillis: [], lastMinute: { cpuMillis: 200 } }],
    })
  })

  test('has no mean and no newest values a minute after the last sample', () => {
    const { memory, time } = memoryAt()
    memory.accept(node, round([{ id: idOf(1), cpuMillis: 5, memoryBytes: 7, pids: 2 }], { unread: 3 }), ALL)
    time.nowMs = 61_000 + STEP_MS
    const usage = memory.read(node, 1)
    expect(usage).toMatchObject({ unread: 3, lastMinute: {} })
    expect(usage?.series[0]).toEqual({
      id: idOf(1),
      cpuMillis: [null],
      memoryBytes: [null],
      rx: [null],
      tx: [null],
      lastMinute: {},
    })
    expect(memory.newestAgeMs(node)).toBe(71_000)
  })

  test('drops samples of assignments that the node does not have or has no longer', () => {
    const { memory } = memoryAt()
    memory.accept(node, round([{ id: idOf(1) }, { id: idOf(2) }]), (id) => id === idOf(1))
    expect(memory.read(node, 1)?.series.map(({ id }) => id)).toEqual([idOf(1)])
    memory.accept(node, round([]), () => false)
    expect(memory.read(node, 1)?.series).toEqual([])
  })

  test('is bounded per tenant, and a dropped node makes room', () => {
    const { memory } = memoryAt(0, 3)
    const samples = (from: number) => [0, 1].map((index) => ({ id: idOf(from + index), cpuMillis: 1 }))
    const other = { ...node, nodeId: 'node_2' as NodeId }
    const foreign = { tenant: 'bolt' as TenantId, nodeId: 'node_3' as NodeId }
    memory.accept(node, round(samples(1)), ALL)
    memory.accept(other, round(samples(3)), ALL)
    memory.accept(foreign, round(samples(5)), ALL)
    const sizes = () => [node, other, foreign].map((one) => memory.read(one, 1)?.series.length)
    expect(sizes()).toEqual([2, 1, 2])
    memory.drop(node)
    memory.accept(other, round(samples(3)), ALL)
    expect(sizes()).toEqual([undefined, 2, 2])
  })

  test('answers nothing about a node of another tenant', () => {
    const { memory } = memoryAt()
    memory.accept(node, round([]), ALL)
    const asked = { ...node, tenant: 'bolt' as TenantId }
    expect([memory.read(asked, 1), memory.has(asked), memory.newestAgeMs(asked)]).toEqual([
      undefined,
      false,
      undefined,
    ])
    memory.drop(asked)
    expect(memory.has(node)).toBe(true)
  })
})

describe('a refill', () => {
  const sent = (agesMs: number[], cpuMillis: (number | null)[]): UsageMessage => {
    const none = agesMs.map(() => null)
    const series = [{ id: idOf(1), cpuMillis, memoryBytes: none, rx: none, tx: none }]
    return {
      type: 'usage',
      session: 1,
      agesMs,
      node: agesMs.map((_, index) => ({ cpuMillis: index })),
      series,
    }
  }

  test('fills the hour before the start of the server and replaces nothing', () => {
    const { memory, time } = memoryAt(3000)
    memory.accept(node, round([{ id: idOf(1), cpuMillis: 50 }]), ALL)
    const ages = Array.from({ length: USAGE_SLOTS }, (_, index) => (USAGE_SLOTS - 1 - index) * STEP_MS)
    time.nowMs += 2000
    memory.refill(
      node,
      sent(
        ages.map((ageMs) => ageMs + 2000),
        ages.map((_, index) => index),
      ),
      ALL,
    )
    const cpuMillis = memory.read(node, USAGE_SLOTS)?.series[0]?.cpuMillis
    expect(cpuMillis).toEqual([...ages.slice(1).keys(), 50])
    expect(memory.read(node, 2)?.cpuMillis).toEqual([358, 1500])
  })

  test('leaves gaps as they are', () => {
    const { memory } = memoryAt(100_000)
    memory.accept(node, round([{ id: idOf(1), cpuMillis: 9 }]), ALL)
    memory.refill(node, sent([30_000, 20_000, 10_000], [1, null, 3]), ALL)
    expect(memory.read(node, 5)?.series[0]?.cpuMillis).toEqual([null, 1, null, 3, 9])
  })

  test('of an assignment that the node does not have is dropped', () => {
    const { memory } = memoryAt(100_000)
    memory.refill(node, sent([10_000], [1]), () => false)
    expect(memory.read(node, 2)?.series).toEqual([])
  })
})

describe('samples of a hostile agent', () => {
  test.each([
    ['a negative value', round([{ id: idOf(1), cpuMillis: -1 }]), false],
    ['a fraction', round([{ id: idOf(1), memoryBytes: 0.5 }]), false],
    ['a negative age', round([], { ageMs: -5 }), false],
    ['too many containers', round(Array.from({ length: 1001 }, (_, at) => ({ id: idOf(at) }))), false],
    ['nothing', round([]), true],
  ])('%s: %#', (_what, value, expected) => expect(isValidRound(value)).toBe(expected))

  test('a column that is longer than the ages is rejected', () => {
    const series = { id: idOf(1), cpuMillis: [1, 2], memoryBytes: [], rx: [], tx: [] }
    const message = { type: 'usage' as const, session: 1, agesMs: [0], series: [series] }
    expect(isValidUsage(message)).toBe(false)
    expect(isValidUsage({ ...message, agesMs: [10, 0] })).toBe(true)
    expect(
      isValidUsage({ ...message, agesMs: [10, 0], series: Array.from({ length: 21 }, () => series) }),
    ).toBe(false)
  })
})

describe('a question to several server replicas', () => {
  /** A store in which each node is held by the server replica of the same number. */
  const context = (replica: string) =>
    ({
      replica,
      store: {
        get: ({ id }: { id: string }) =>
          id.startsWith('node_')
            ? { record: { session: { replica: `server-${id.slice('node_'.length)}` } } }
            : { record: { url: `http://${id}` } },
      },
    }) as unknown as GatewayContext

  test('is split so that no answer is too long, and one without an answer is unknown', async () => {
    const { memory } = memoryAt()
    memory.accept(node, round([{ id: idOf(1), cpuMillis: 5 }]), ALL)
    const asked: UsageQuestion[] = []
    const read = createReadUsage(context('server-1'), memory, async ({ nodeId }, question) => {
      asked.push(question)
      return nodeId === 'node_3' ? undefined : []
    })
    const many = Array.from({ length: MAX_ANSWERED_SERIES + 1 }, (_, at) => idOf(at))
    const [second, third] = ['node_2' as NodeId, 'node_3' as NodeId]
    const nodes = [{ nodeId: node.nodeId }, { nodeId: second, assignments: many }, { nodeId: third }]
    const answer = await read(node.tenant, nodes, 6)
    expect([...answer.nodes.keys()]).toEqual([node.nodeId])
    expect(answer.unreachable).toEqual([third])
    expect(asked.map((one) => one.nodes[0]?.assignments?.length).toSorted()).toEqual([
      1,
      MAX_ANSWERED_SERIES,
      undefined,
    ])
  })

  test('of several tenants is one call to each holder, and names the tenant of each node', async () => {
    const { memory } = memoryAt()
    memory.accept(node, round([{ id: idOf(1), cpuMillis: 5 }]), ALL)
    const asked: UsageQuestion[] = []
    const readAll = createReadUsageOfAll(context('server-1'), memory, async (_holder, question) => {
      asked.push(question)
      return []
    })
    const other = 'globex' as TenantId
    const second = 'node_2' as NodeId
    const { tenant, nodeId } = node
    const answer = await readAll(
      [
        { tenant, nodeId, assignments: [idOf(1)] },
        { tenant, nodeId: second, assignments: [idOf(2)] },
        { tenant: other, nodeId: second, assignments: [idOf(3)] },
        // Another tenant never gets the samples of this node.
        { tenant: other, nodeId, assignments: [idOf(1)] },
      ],
      0,
    )
    expect(answer.nodes.get(nodeId)?.series.map(({ id }) => id)).toEqual([idOf(1)])
    expect(asked.map(({ nodes }) => nodes.map((each) => each.tenant))).toEqual([[tenant, other]])
  })
})
