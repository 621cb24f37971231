// Writers of volumes under leases: real engines of both supported Docker versions, a real pool and a fencer. The test acts as
// the server and sets the leases. The engine and the kernel decide how soon a writer starts and ends.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DesiredItem } from '@holdfast/contract'
import { waitUntil } from '@holdfast/testkit'
import { LONG } from '@holdfast/testkit/long-run'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startPool, type TestPool } from './adapters/btrfs/pool.fixture.ts'
import { createHostVolumes } from './adapters/host-volumes.ts'
import type { Agent } from './agent.ts'
import { bootClockMs } from './fencer/boot-clock.ts'
import { type FencerProcess, settableLeases, startFencer } from './fencer/fencer.fixture.ts'
import { encodeDeadlines } from './fencer/fencer-files.ts'
import { createTestNode, desiredItem, isUp, newTenant, type TestNode } from './fixtures/agent.fixture.ts'
import { type AgentProcess, startAgentProcess } from './fixtures/agent-process.fixture.ts'
import { onEngines } from './fixtures/real-engine.fixture.ts'
import { mountOf } from './fixtures/volumes.fixture.ts'
import { desiredCopy } from './storage/copies.fixture.ts'

const SERVE = "trap 'exit 0' TERM; sleep 3600 & wait"
const [LIVE_MS, FENCE_MS] = [60_000, 2_000]

onEngines('leases', (world, line, isLast) => {
  // The version of the engine matters little to these tests, so a short run has them once.
  const itOnce = it.runIf(LONG || isLast)
  let home: TestPool
  let fencer: FencerProcess
  let node: TestNode
  let agent: Agent | undefined
  let item: DesiredItem
  const copy = desiredCopy()
  const { volume } = copy
  let lease = settableLeases()
  const startAgent = async (): Promise<void> => {
    lease = settableLeases()
    node.volumes = { ...node.volumes, leases: lease.leases }
    agent = await node.start()
    node.send([item], { copies: [copy] })
  }
  const stopAgent = async (): Promise<void> => {
    await agent?.close()
    agent = undefined
  }
  const startProcess = async (): Promise<AgentProcess> => {
    const { tenant, folder } = node
    const { docker } = world()
    const cgroup = `${docker.cgroup}/writers`
    const volumes = { pool: { path: home.file, sizeBytes: undefined }, cgroup, fencer: fencer.folder }
    const child = await startAgentProcess({ tenant, folder, socketPath: docker.socketPath, volumes })
    child.send([item], { copies: [copy], revision: 1_000_000 })
    return child
  }
  const untilWaiting = (about: string, signal?: string) =>
    node.until(
      item,
      `waiting: ${about}`,
      ({ reason, about: shown, lastExit }) =>
        reason === 'volume_not_leased' &&
        shown?.includes(about) === true &&
        (!signal || lastExit?.signal === signal),
    )
  /** Waits for a refused start in the agent's log: reports may be delayed by their rate limit. */
  const untilRefused = async (why: string, retryMs = 0): Promise<void> => {
    const seen = node.logged.length
    const isSuch = (text: string): boolean => text.includes(why) && JSON.parse(text).retryMs >= retryMs
    await waitUntil(() => node.logged.slice(seen).some(isSuch), { what: `a start is refused: ${why}` })
  }
  const container = async () => {
    const [id] = await node.containersOf(item)
    return id === undefined ? undefined : node.engine.inspectContainer(id)
  }
  const isRunning = async (): Promise<boolean> => (await container())?.state === 'running'
  /** Returns the time until the engine runs the writer. */
  const untilRunning = async (): Promise<number> => {
    const sinceMs = performance.now()
    await waitUntil(isRunning, { what: 'the writer runs', seen: () => node.logged.slice(-10).join('') })
    return Math.round(performance.now() - sinceMs)
  }
  const untilKnown = (leaseEndMs: number) =>
    fencer.until('the fencer knows the end', ({ groups }) =>
      groups.some((group) => group.name === volume && group.leaseEndMs === leaseEndMs),
    )
  const isMounted = (): boolean =>
    readFileSync('/proc/self/mountinfo', 'utf8').includes(` ${join(home.folder, 'volumes', volume)} `)
  const fencedSince = () => node.copyReports.at(-1)?.fencedSince

  beforeAll(async () => {
    const { docker, image } = world()
    home = await startPool()
    fencer = await startFencer()
    node = createTestNode(docker.socketPath, undefined, { tenant: newTenant(), folder: home.folder })
    node.openPool = () => home.open()
    const cgroup = `${docker.cgroup}/writers`
    node.volumes = { host: createHostVolumes(cgroup), cgroup, fencer: fencer.folder }
    const mounts = [mountOf(volume, { type: 'bind' })]
    item = desiredItem(image, { command: ['/bin/sh', '-c', SERVE], mounts })
    await startAgent()
  })
  afterAll(async () => {
    await agent?.close()
    await node?.clear()
    await fencer?.remove()
    home?.remove()
  })

  it('starts a writer only under a live lease, ends it with the lease and starts it again under the next one', async () => {
    const waiting = await untilWaiting('has no lease')
    expect(isUp(waiting)).toBe(false)
    lease.set(bootClockMs() + LIVE_MS)
    const firstMs = await untilRunning()
    expect(isMounted()).toBe(true)

    const endMs = bootClockMs() + FENCE_MS + 300
    lease.set(endMs)
    const fenced = await untilWaiting('has no lease', 'SIGKILL')
    expect(bootClockMs()).toBeGreaterThanOrEqual(endMs - FENCE_MS)
    expect(fenced.cause).toBe(`this node's lease of the volume ${volume} ended`)
    await waitUntil(() => !isMounted() && fencedSince() !== undefined, { what: 'the fence is reported' })
    expect(node.copyReports.at(-1)).toMatchObject({ volume, state: 'present', reason: '' })
    expect(await isRunning()).toBe(false)

    lease.set(bootClockMs() + LIVE_MS)
    const againMs = await untilRunning()
    expect(isMounted()).toBe(true)
    await waitUntil(() => fencedSince() === undefined, { what: 'the end of the fence is reported' })
    process.stdout.write(
      `leases, ${line} engine: a writer ran ${firstMs} and ${againMs} ms after a new lease\n`,
    )
    expect(againMs).toBeLessThan(5_000)
  })

  itOnce('keeps a writer while agents are killed, until the fencer ends it with the last lease', async () => {
    await stopAgent()
    const before = await container()
    const first = await startProcess()
    const endMs = bootClockMs() + LIVE_MS
    first.setLease(endMs)
    await untilKnown(endMs)
    await first.kill()

    // The next agent does not know the lease at first. It must not end the writer by that.
    const next = await startProcess()
    await waitUntil(() => next.newest(item)?.reason === '', { what: 'the writer is reported' })
    expect((await fencer.link.report())?.groups).toMatchObject([{ name: volume, leaseEndMs: endMs }])
    const { id, startedAt } = (await container()) ?? {}
    expect([id, startedAt, await isRunning()]).toEqual([before?.id, before?.startedAt, true])
    const lastMs = bootClockMs() + FENCE_MS + 1_000
    next.setLease(lastMs)
    await untilKnown(lastMs)
    await next.kill()
    expect(await isRunning()).toBe(true)
    const { fences } = await fencer.until(
      'the writer is gone',
      (one) => one.fences.get(volume)?.emptyMs !== undefined,
    )
    expect(fences.get(volume)?.emptyMs).toBeLessThan(lastMs)
    await waitUntil(async () => !(await isRunning()), { what: 'the engine reports the exit' })
  })

  itOnce('starts no writer without a fencer, nor after a boot before a new lease', async () => {
    await startAgent()
    lease.set(bootClockMs() + LIVE_MS)
    await untilRunning()
    await fencer.kill()
    await waitUntil(async () => !(await fencer.link.guards(volume)), { what: 'the fencer is silent' })
    // The agent ends the writer in place of the fencer. The volume stays mounted.
    lease.set(bootClockMs() + FENCE_MS + 200)
    await waitUntil(async () => !(await isRunning()), { what: 'the writer has ended' })
    lease.set(bootClockMs() + LIVE_MS)
    await untilRefused('holdfast-fencer does not run on this node')
    expect([await isRunning(), isMounted()]).toEqual([false, true])
    fencer = await startFencer(fencer.folder)
    await untilRunning()

    // As after a boot: no container, no mount and no lease, and the deadlines are those of the boot before.
    await stopAgent()
    await fencer.kill()
    await node.engine.stopContainer((await container())?.id ?? '', 0)
    const groups = await fencer.link.deadlines()
    writeFileSync(join(fencer.folder, 'deadlines.json'), encodeDeadlines({ boot: 'before', groups }))
    writeFileSync(join(fencer.folder, 'report.json'), '')
    fencer = await startFencer(fencer.folder)
    const refused = untilRefused('has no lease', 3_000)
    await startAgent()
    await refused
    expect([await isRunning(), (await fencer.link.report())?.fences.has(volume)]).toEqual([false, true])
    // The start follows the lease, not the backoff of the refused starts.
    lease.set(bootClockMs() + LIVE_MS)
    const tookMs = await untilRunning()
    expect(tookMs).toBeLessThan(5_000)
  })
})
