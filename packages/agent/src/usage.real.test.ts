// The usage of containers as the agent reads it, compared with the engine's own statistics, on both engines.

import { setTimeout as pause } from 'node:timers/promises'
import Docker from 'dockerode'
import { expect, it } from 'vitest'
import { createUsageReader } from './adapters/kernel/usage-files.ts'
import { desiredItem, isUp } from './fixtures/agent.fixture.ts'
import { onEngines } from './fixtures/real-engine.fixture.ts'

interface EngineStats {
  readonly cpu_stats: {
    readonly cpu_usage: { readonly total_usage: number }
    readonly throttling_data: { readonly throttled_periods: number }
  }
  readonly memory_stats: { readonly usage: number; readonly stats: { readonly [name: string]: number } }
  readonly pids_stats: { readonly current: number }
  readonly networks?: { readonly [name: string]: { readonly rx_bytes: number; readonly tx_bytes: number } }
}

/** The memory that the docker command prints from the same statistics. */
const memoryOf = ({ memory_stats: { usage, stats } }: EngineStats): number =>
  usage - (stats.total_inactive_file ?? stats.inactive_file ?? 0)

const BUSY = 'head -c 30000000 /dev/zero | tail -c 1 >/dev/null; while :; do :; done'

onEngines('usage', (world) => {
  it('differs from the statistics of the engine by less than 10 %', async () => {
    const { node } = await world().newNode()
    const item = desiredItem(world().image, {
      command: ['sh', '-c', BUSY],
      limits: { cpuMillis: 200, memoryBytes: 64 * 1024 * 1024 },
    })
    node.send([item])
    const { containerId } = await node.until(item, 'running', isUp)
    const id = containerId ?? ''
    const container = new Docker({ socketPath: world().docker.socketPath }).getContainer(id)
    const { pid = 0 } = await node.engine.inspectContainer(id)
    const reader = createUsageReader(node.folder)
    const both = async () => {
      const [own, stats] = [reader.container(id, pid), await container.stats({ stream: false })]
      if (own === undefined) throw new Error('the container cannot be read')
      return { own, engine: stats as unknown as EngineStats, again: reader.container(id, pid) }
    }
    const first = await both()
    // The engine takes more than a second to answer; the longer the interval, the smaller the share of that second.
    await pause(10_000)
    const last = await both()
    const used = (last.again?.cpuNanos ?? 0) - (first.again?.cpuNanos ?? 0)
    const engineUsed =
      last.engine.cpu_stats.cpu_usage.total_usage - first.engine.cpu_stats.cpu_usage.total_usage
    expect(used).toBeGreaterThan(0)
    expect(Math.abs(used - engineUsed) / engineUsed).toBeLessThan(0.1)
    const memory = memoryOf(last.engine)
    expect(Math.abs((last.again?.memoryBytes ?? 0) - memory) / memory).toBeLessThan(0.1)
    expect(last.own.pids).toBe(last.engine.pids_stats.current)
    // The container uses its limit up again and again, and the engine counts the same between the two readings.
    const { throttled_periods: throttled } = last.engine.cpu_stats.throttling_data
    expect(throttled).toBeGreaterThan(0)
    expect(throttled).toBeGreaterThanOrEqual(last.own.throttled ?? Number.NaN)
    expect(throttled).toBeLessThanOrEqual(last.again?.throttled ?? Number.NaN)
    const [network] = Object.values(last.engine.networks ?? {})
    expect(last.again?.rx).toBeGreaterThanOrEqual(network?.rx_bytes ?? Number.NaN)
    node.send([])
  })

  it('is sampled for each running container', async () => {
    const { node } = await world().newNode()
    const item = desiredItem(world().image)
    node.send([item])
    await node.until(item, 'running', isUp)
    node.aheadMs += 10_000
    await node.sampler()?.sample()
    const { containers = [], unread, node: machine } = node.sampler()?.history.latest(0) ?? {}
    expect([containers.map(({ id }) => id), unread]).toEqual([[item.assignmentId], 0])
    expect(containers[0]?.memoryBytes).toBeGreaterThan(0)
    expect(machine?.memoryBytes).toBeGreaterThan(0)
    node.send([])
  })

  it('of a container that is gone cannot be read', async () => {
    const { node } = await world().newNode()
    const item = desiredItem(world().image)
    node.send([item])
    const { containerId } = await node.until(item, 'running', isUp)
    const id = containerId ?? ''
    const { pid = 0 } = await node.engine.inspectContainer(id)
    const reader = createUsageReader(node.folder)
    expect(reader.container(id, pid)).toMatchObject({ pids: expect.any(Number) })
    await node.engine.removeContainer(id)
    expect(reader.container(id, pid)).toBeUndefined()
    node.send([])
  })
})
