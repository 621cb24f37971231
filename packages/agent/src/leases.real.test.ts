// Writers of volumes under leases: real engines of both supported Docker versions, a real pool and a fencer. The test acts as
// the server and sets the leases.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DesiredItem } from '@holdfast/contract'
import { waitUntil } from '@holdfast/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startPool, type TestPool } from './adapters/btrfs/pool.fixture.ts'
import { createHostVolumes } from './adapters/host-volumes.ts'
import type { Agent } from './agent.ts'
import { bootClockMs } from './fencer/boot-clock.ts'
import { type FencerProcess, startFencer } from './fencer/fencer.fixture.ts'
import { createTestNode, desiredItem, isUp, newTenant, type TestNode } from './fixtures/agent.fixture.ts'
import { onBothEngines } from './fixtures/real-engine.fixture.ts'
import { mountOf } from './fixtures/volumes.fixture.ts'
import type { Leases } from './ports/leases.ts'
import { desiredCopy } from './storage/copies.fixture.ts'

const SERVE = "trap 'exit 0' TERM; sleep 3600 & wait"
const [LIVE_MS, FENCE_MS] = [60_000, 2_000]

/** Leases of one volume that the test sets. */
function settableLeases() {
  let endMs = Number.POSITIVE_INFINITY
  const listeners: (() => void)[] = []
  const leases: Leases = {
    fenceMs: FENCE_MS,
    endMs: () => endMs,
    onChange: (listener) => void listeners.push(listener),
    confirmEpoch: async () => {},
  }
  const set = (next: number): void => {
    endMs = next
    for (const listener of listeners) listener()
  }
  return { leases, set }
}

onBothEngines('leases', (world, line) => {
  let home: TestPool
  let fencer: FencerProcess
  let node: TestNode
  let agent: Agent
  let item: DesiredItem
  const copy = desiredCopy()
  const { volume } = copy
  let lease = settableLeases()
  const renew = (ms: number): number => {
    const endMs = bootClockMs() + ms
    lease.set(endMs)
    return endMs
  }
  const startAgent = async (): Promise<void> => {
    lease = settableLeases()
    node.volumes = { ...node.volumes, leases: lease.leases }
    agent = await node.start()
  }
  const send = (): void => node.send([item], { copies: [copy] })
  const isMounted = (): boolean =>
    readFileSync('/proc/self/mountinfo', 'utf8').includes(` ${join(home.folder, 'volumes', volume)} `)
  const untilRunning = () => node.until(item, 'running', (seen) => isUp(seen) && seen.reason === '')
  const untilWaiting = (about: string) =>
    node.until(
      item,
      `waiting: ${about}`,
      (seen) => seen.reason === 'volume_not_leased' && seen.about?.includes(about) === true,
    )
  const stateOf = async () => (await node.engine.inspectContainer(node.newest(item)?.containerId ?? '')).state

  beforeAll(async () => {
    const { docker, image } = world()
    home = await startPool()
    fencer = await startFencer()
    node = createTestNode(docker.socketPath, undefined, { tenant: newTenant(), folder: home.folder })
    node.openPool = () => home.open()
    const cgroup = `${docker.cgroup}/writers`
    node.volumes = { host: createHostVolumes(cgroup), cgroup, fencer: fencer.folder }
    item = desiredItem(image, {
      command: ['/bin/sh', '-c', SERVE],
      mounts: [mountOf(volume, { type: 'bind' })],
    })
    await startAgent()
  })
  afterAll(async () => {
    await agent?.close()
    await node?.clear()
    await fencer?.remove()
    home?.remove()
  })

  it('starts a writer only under a live lease, ends it with the lease and starts it again under the next one', async () => {
    lease.set(Number.NEGATIVE_INFINITY)
    send()
    await untilWaiting('has no lease')
    let sinceMs = performance.now()
    renew(LIVE_MS)
    await untilRunning()
    const firstMs = performance.now() - sinceMs
    expect(isMounted()).toBe(true)

    const endMs = renew(FENCE_MS + 300)
    const fenced = await untilWaiting('')
    expect(bootClockMs()).toBeGreaterThanOrEqual(endMs - FENCE_MS)
    expect(fenced).toMatchObject({ lastExit: { signal: 'SIGKILL' } })
    expect(fenced.cause).toBe(`the fencer ended it, because this node's lease of the volume ${volume} ended`)
    await waitUntil(() => !isMounted(), { what: 'the volume is unmounted' })
    await waitUntil(() => node.copyReports.at(-1)?.fencedSince !== undefined, {
      what: 'the fence is reported',
    })
    expect(node.copyReports.at(-1)).toMatchObject({ volume, state: 'present' })
    expect(await stateOf()).toBe('exited')

    sinceMs = performance.now()
    renew(LIVE_MS)
    await untilRunning()
    const againMs = performance.now() - sinceMs
    expect(isMounted()).toBe(true)
    await waitUntil(() => node.copyReports.at(-1)?.fencedSince === undefined, { what: 'its end is reported' })
    process.stdout.write(
      `leases, ${line} engine: running ${Math.round(firstMs)} ms and ${Math.round(againMs)} ms after a lease\n`,
    )
    expect(againMs).toBeLessThan(3_000)
    expect(existsSync(join(fencer.folder, 'deadlines.json'))).toBe(true)
  })
})
