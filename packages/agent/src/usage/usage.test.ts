import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AssignmentId, MAX_SENT_SERIES } from '@holdfast/contract'
import { type ContainerReading, USAGE_SLOTS } from '@holdfast/core/node'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createUsageReader } from '../adapters/kernel/usage-files.ts'
import { type RunningContainer, startSampler } from './sample-node.ts'
import { createUsageFeed } from './usage-feed.ts'
import { createUsageHistory, type UsageHistory, type UsagePart } from './usage-history.ts'

const idOf = (number: number) => `rep_${number}` as AssignmentId
const STEP_MS = 10_000

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function addRounds(history: UsageHistory, count: number, containers: number): void {
  for (let round = 0; round < count; round += 1)
    history.add(
      {
        node: { cpuMillis: round },
        containers: Array.from({ length: containers }, (_, index) => ({ id: idOf(index), cpuMillis: round })),
        unread: 0,
      },
      (round + 1) * STEP_MS,
    )
}

describe('the history', () => {
  test('keeps an hour and returns it with ages, in parts of bounded size', () => {
    const history = createUsageHistory()
    addRounds(history, USAGE_SLOTS + 40, MAX_SENT_SERIES + 1)
    const nowMs = (USAGE_SLOTS + 40) * STEP_MS + 5
    const parts = history.parts(0, USAGE_SLOTS + 39).map((part) => part(nowMs))
    expect(parts.map(({ series }) => series.length)).toEqual([MAX_SENT_SERIES, 1])
    expect(parts.map(({ node }) => node?.length)).toEqual([USAGE_SLOTS, undefined])
    const [{ agesMs, series } = { agesMs: [], series: [] }] = parts
    expect([agesMs.length, agesMs[0], agesMs.at(-1)]).toEqual([
      USAGE_SLOTS,
      (USAGE_SLOTS - 1) * STEP_MS + 5,
      5,
    ])
    expect([series[0]?.cpuMillis[0], series[0]?.cpuMillis.at(-1)]).toEqual([40, USAGE_SLOTS + 39])
  })

  test('drops a container that was not sampled for an hour', () => {
    const history = createUsageHistory()
    addRounds(history, 1, 3)
    addRounds(history, USAGE_SLOTS, 1)
    const [part] = history.parts(0, USAGE_SLOTS)
    expect(part?.(0).series.map(({ id }) => id)).toEqual([idOf(0)])
  })

  test('has no round before the first, and none after the newest', () => {
    const history = createUsageHistory()
    expect([history.newest(), history.latest(0), history.parts(0, 5)]).toEqual([undefined, undefined, []])
    addRounds(history, 3, 1)
    expect([history.firstAfter(0), history.firstAfter(STEP_MS), history.firstAfter(3 * STEP_MS)]).toEqual([
      0, 1, 3,
    ])
  })
})

function feedOf(history: UsageHistory) {
  const sent: UsagePart[] = []
  const state = { nowMs: 0, isOpen: true }
  const feed = createUsageFeed({
    sampler: { history, sample: async () => {}, now: () => state.nowMs },
    send(part) {
      if (state.isOpen) sent.push(part)
      return state.isOpen
    },
  })
  return { feed, sent, state }
}

describe('the feed', () => {
  test('sends nothing to a server that keeps no samples', async () => {
    const history = createUsageHistory()
    addRounds(history, 3, 1)
    expect(await feedOf(history).feed.next()).toBeUndefined()
  })

  test('refills a server without samples and sends each new round once', async () => {
    const history = createUsageHistory()
    addRounds(history, 5, 1)
    const { feed, sent, state } = feedOf(history)
    state.nowMs = 5 * STEP_MS
    feed.begin(undefined)
    expect(await feed.next()).toMatchObject({ ageMs: 0, node: { cpuMillis: 4 } })
    expect(await feed.next()).toBeUndefined()
    vi.advanceTimersByTime(5000)
    expect(sent.map(({ agesMs }) => agesMs)).toEqual([[40_000, 30_000, 20_000, 10_000]])
    history.add({ node: {}, containers: [], unread: 2 }, 6 * STEP_MS)
    expect(await feed.next()).toMatchObject({ unread: 2 })
    vi.advanceTimersByTime(5000)
    expect(sent).toHaveLength(1)
  })

  test('sends a server that was away only the rounds that it missed', async () => {
    const history = createUsageHistory()
    addRounds(history, 5, 1)
    const { feed, sent, state } = feedOf(history)
    state.nowMs = 5 * STEP_MS
    feed.begin(3 * STEP_MS + 40)
    await feed.next()
    vi.advanceTimersByTime(5000)
    expect(sent.map(({ agesMs }) => agesMs)).toEqual([[20_000, 10_000]])
  })

  test('repeats a refill that ended with its session', async () => {
    const history = createUsageHistory()
    addRounds(history, 5, MAX_SENT_SERIES + 1)
    const { feed, sent, state } = feedOf(history)
    state.nowMs = 5 * STEP_MS
    feed.begin(undefined)
    await feed.next()
    vi.advanceTimersByTime(1000)
    state.isOpen = false
    feed.end()
    vi.advanceTimersByTime(5000)
    expect(sent).toHaveLength(1)
    state.isOpen = true
    feed.begin(0)
    history.add({ node: {}, containers: [], unread: 0 }, 6 * STEP_MS)
    await feed.next()
    vi.advanceTimersByTime(5000)
    expect(sent.slice(1).map(({ agesMs }) => agesMs.length)).toEqual([5, 5])
  })
})

describe('the sampler', () => {
  const reading = (cpuNanos: number): ContainerReading => ({ cpuNanos, memoryBytes: 5 })

  function samplerOf(
    read: (containerId: string) => ContainerReading | undefined,
    running: RunningContainer[],
  ) {
    const machine = async () => ({ busyMs: 500 * performance.now(), memoryBytes: 7 })
    const sampler = startSampler({
      reader: { container: read, machine },
      running: () => running,
      monotonicMs: () => performance.now(),
    })
    onTestFinished(sampler.close)
    return sampler
  }

  test('leaves a container that cannot be read out and counts it', async () => {
    const running = [1, 2, 3].map((number) => ({ id: idOf(number), containerId: `c${number}`, pid: 1 }))
    const sampler = samplerOf(
      (id) => (id === 'c2' ? undefined : reading(1)),
      [...running, { id: idOf(4), containerId: 'c4', pid: undefined }],
    )
    await sampler.sample()
    const { containers, unread } = sampler.history.latest(performance.now()) ?? {}
    expect(containers).toEqual([
      { id: idOf(1), memoryBytes: 5 },
      { id: idOf(3), memoryBytes: 5 },
    ])
    expect(unread).toBe(2)
  })

  test('takes a round each step without heartbeats, and none too early', async () => {
    let cpuNanos = 0
    const read = () => {
      cpuNanos += 2_525_000_000
      return reading(cpuNanos)
    }
    const sampler = samplerOf(read, [{ id: idOf(1), containerId: 'c', pid: 1 }])
    await sampler.sample()
    await sampler.sample()
    expect(sampler.history.newest()).toBe(0)
    await vi.advanceTimersByTimeAsync(10_100)
    expect(sampler.history.newest()).toBe(1)
    expect(sampler.history.latest(performance.now())).toMatchObject({
      containers: [{ cpuMillis: 250 }],
      node: { memoryBytes: 7, cpuMillis: 500_000 },
    })
    await vi.advanceTimersByTimeAsync(8000)
    await sampler.sample()
    expect(sampler.history.newest()).toBe(2)
  })
})

describe('the reader', () => {
  const ID = 'c'.repeat(64)

  function machineWith(files: { readonly [path: string]: string }) {
    const root = mkdtempSync(join(tmpdir(), 'usage-'))
    onTestFinished(() => rmSync(root, { recursive: true }))
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(root, path, '..'), { recursive: true })
      writeFileSync(join(root, path), text)
    }
    return createUsageReader(root, { proc: join(root, 'proc'), cgroup: join(root, 'cgroup') })
  }
  const NETWORK = { 'proc/7/net/dev': 'a\nb\neth0: 100 1 0 0 0 0 0 0 200 1 0 0 0 0 0 0\n' }

  test('reads a container of cgroup v1', () => {
    const at = `docker/${ID}`
    const lines = ['cpu', 'cpuacct', 'memory', 'pids'].map((name, index) => `${index + 1}:${name}:/${at}`)
    const reader = machineWith({
      'proc/7/cgroup': lines.join('\n'),
      [`cgroup/cpuacct/${at}/cpuacct.usage`]: '5000\n',
      [`cgroup/cpu/${at}/cpu.stat`]: 'nr_periods 10\nnr_throttled 4\nthrottled_time 99\n',
      [`cgroup/memory/${at}/memory.usage_in_bytes`]: '900\n',
      [`cgroup/memory/${at}/memory.stat`]: 'inactive_file 1\ntotal_inactive_file 300\n',
      [`cgroup/pids/${at}/pids.current`]: '3\n',
      ...NETWORK,
    })
    expect(reader.container(ID, 7)).toEqual({
      cpuNanos: 5000,
      memoryBytes: 600,
      periods: 10,
      throttled: 4,
      pids: 3,
      rx: 100,
      tx: 200,
    })
  })

  test('reads a container of cgroup v2', () => {
    const at = `system.slice/docker-${ID}.scope`
    const reader = machineWith({
      'proc/7/cgroup': `0::/${at}\n`,
      [`cgroup/${at}/cpu.stat`]: 'usage_usec 5\nnr_periods 10\nnr_throttled 4\n',
      [`cgroup/${at}/memory.current`]: '900\n',
      [`cgroup/${at}/memory.stat`]: 'inactive_file 300\n',
      [`cgroup/${at}/pids.current`]: '3\n',
      ...NETWORK,
    })
    expect(reader.container(ID, 7)).toMatchObject({ cpuNanos: 5000, memoryBytes: 600, throttled: 4, pids: 3 })
  })

  test('reads nothing of a container whose files are gone or whose process is another one', () => {
    const at = `docker/${ID}`
    const reader = machineWith({
      'proc/7/cgroup': `0::/${at}\n`,
      'proc/8/cgroup': `0::/docker/${'d'.repeat(64)}\n`,
      [`cgroup/${at}/memory.current`]: '900\n',
    })
    expect([reader.container(ID, 7), reader.container(ID, 8), reader.container(ID, 9)]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })
})
