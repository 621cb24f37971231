// The agent dies while it creates or removes a container with a volume: its successor converges, the volume has the whole
// content of the image, and nothing else is left on the machine. A full pool stops neither containers nor the agent.

import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DesiredCopy, VolumeId } from '@holdfast/contract'
import { SEED_LABEL, seedName, seedSettings, TENANT_LABEL } from '@holdfast/core/node'
import { uniqueName, waitUntil } from '@holdfast/testkit'
import { inRun, LONG } from '@holdfast/testkit/long-run'
import Docker from 'dockerode'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { MIB, startPool } from './adapters/btrfs/pool.fixture.ts'
import { createHostVolumes } from './adapters/host-volumes.ts'
import { createTestNode, desiredItem, isUp, newTenant } from './fixtures/agent.fixture.ts'
import { dyingAfter } from './fixtures/dying.fixture.ts'
import { onEngines } from './fixtures/real-engine.fixture.ts'
import {
  cgroupsOf,
  copyLeftovers,
  mountOf,
  startVolumes,
  type TestVolumes,
} from './fixtures/volumes.fixture.ts'
import { desiredCopy } from './storage/copies.fixture.ts'

/** Step between the engine calls at which the agent dies: every call in a long run, every third call in a short run. */
const STEP = inRun(3, 1)
const FILES = ['a', 'b', 'c']
const COMMAND = ['/bin/sh', '-c', "trap 'exit 0' TERM; sleep 3600 & wait"]

onEngines('faults of mounts', (world, line, isLast) => {
  let volumes: TestVolumes
  let image: string
  beforeAll(async () => {
    volumes = await startVolumes()
    const files = FILES.map((name) => ({ name: `data/${name}`, content: Buffer.from(`${name}\n`) }))
    const { digest } = await world().registry.pushBusyboxImage('test/faults', '1', { files })
    image = `${world().registry.host}/test/faults@${digest}`
  })
  afterAll(() => volumes?.home.remove())

  const newNode = () => volumes.newNode(world().docker.socketPath, world().docker.cgroup)
  const itemWith = (volume: VolumeId) =>
    desiredItem(image, { name: uniqueName('v'), command: COMMAND, mounts: [mountOf(volume)] })
  const untilNoCgroup = (volume: VolumeId) =>
    waitUntil(() => cgroupsOf(world().docker.cgroup, volume).length === 0, { what: 'the cgroup is gone' })

  it('a new agent completes the container after its predecessor died at any call', {
    timeout: 600_000,
  }, async () => {
    const node = newNode()
    const first = STEP === 1 || line === 'old' ? 1 : 2
    const calls = new Set<string>()
    for (let n = first, survived = false; !survived; n += STEP) {
      const volume = await volumes.add()
      const item = itemWith(volume)
      const dying = dyingAfter(node.engine, n)
      const mortal = await node.start(dying.engine)
      node.send([item])
      const isItUp = () => isUp(node.newest(item) ?? { state: 'pulling' })
      await waitUntil(() => dying.died() || isItUp(), { what: `call ${n} is made` })
      survived = !dying.died()
      await mortal.close()
      for (const call of dying.calls) calls.add(call)

      const second = await node.start()
      node.send([item])
      await node.until(item, `up after a death at ${n}`, isUp)
      expect((await node.containersOf(item)).length).toBe(1)
      expect(readdirSync(volumes.at(volume)).toSorted()).toEqual(FILES)
      await waitUntil(async () => (await copyLeftovers(node)).length === 0, { what: 'no copy is left' })
      node.send([{ ...item, desired: 'removed' }])
      await node.until(item, 'gone', ({ gone }) => gone)
      await untilNoCgroup(volume)
      await second.close()
    }
    expect([...calls]).toEqual(expect.arrayContaining(['create', 'start', 'listVolumes', 'cgroupDriver']))
  })

  it('a new agent removes what a killed agent and a killed engine left', async () => {
    const node = newNode()
    const [volume, ended] = [await volumes.add(), await volumes.add()]
    const agent = await node.start()
    const last = itemWith(ended)
    node.send([last])
    const { containerId } = await node.until(last, 'running', isUp)
    await agent.close()
    // Its cgroup stays: the container is removed without an agent.
    await node.engine.removeContainer(containerId ?? '')
    expect(cgroupsOf(world().docker.cgroup, ended).length).toBeGreaterThan(0)
    // An interrupted copy of a container that is no longer desired: its container, its volume, and a volume without a container.
    const folder = volumes.at(volume, '.holdfast-seed', 'content')
    mkdirSync(folder, { recursive: true })
    await node.engine.createContainer(
      seedName(volume),
      seedSettings(last.template, node.tenant, { volume, target: '/data', folder }),
    )
    const Labels = { [SEED_LABEL]: volume, [TENANT_LABEL]: node.tenant }
    await new Docker({ socketPath: world().docker.socketPath }).createVolume({ Labels })
    expect((await copyLeftovers(node)).length).toBe(3)
    // The content of an interrupted copy is incomplete.
    rmSync(join(folder, FILES[0] ?? ''))

    const next = await node.start()
    node.send([])
    await untilNoCgroup(ended)
    await waitUntil(async () => (await copyLeftovers(node)).length === 0, { what: 'no copy is left' })
    const item = itemWith(volume)
    node.send([item])
    await node.until(item, 'running', isUp)
    expect(readdirSync(volumes.at(volume)).toSorted()).toEqual(FILES)
    await next.close()
    await node.clear()
  })

  // A full pool is the same for both engines: a short run fills it once.
  const itOnce = it.runIf(LONG || isLast)
  itOnce('containers and agent continue on a pool that one writer has filled', async () => {
    const { docker } = world()
    const home = await startPool(128 * MIB)
    const node = createTestNode(docker.socketPath, undefined, { tenant: newTenant(), folder: home.folder })
    const cgroup = `${docker.cgroup}/writers`
    node.volumes = { host: createHostVolumes(cgroup), cgroup }
    node.openPool = () => home.open()
    const [large, small, late] = [desiredCopy({ sizeBytes: 64 * MIB }), desiredCopy(), desiredCopy()]
    const [filler, other] = [itemWith(large.volume), itemWith(small.volume)]
    const run = async (id: string | null, script: string) =>
      node.engine.runProbe(id ?? '', ['/bin/sh', '-c', script], 30_000)
    try {
      const first = await node.start()
      node.send([filler, other], { copies: [large, small] })
      const { containerId } = await node.until(filler, 'running', isUp)
      const { containerId: otherId } = await node.until(other, 'running', isUp)
      await run(otherId, 'echo kept > /data/mine; sync')
      const sizes = ['1M', '4k'].map((size) => `dd if=/dev/urandom of=/data/${size} bs=${size}`)
      expect((await run(containerId, `${sizes.join('; ')}; sync`)).output.text).toMatch(/space left|quota/)
      const { poolBytes, usedBytes } = await home.pool.inspect()
      expect(usedBytes / poolBytes).toBeGreaterThan(0.95)
      await first.close()

      // An agent that starts on the full pool keeps the containers, starts another one, and creates no copy.
      const second = await node.start()
      const next = itemWith(small.volume)
      node.send([filler, { ...other, desired: 'removed' }, next], { copies: [large, small, late] })
      await node.until(other, 'gone', ({ gone }) => gone)
      const { containerId: nextId } = await node.until(next, 'running', isUp)
      expect((await run(nextId, 'cat /data/mine')).output.text.trim()).toBe('kept')
      expect(node.newest(filler)).toMatchObject({
        containerId,
        state: expect.stringMatching(/running|ready/),
      })
      const reportOf = (copy: DesiredCopy) =>
        node.copyReports.findLast(({ volume }) => volume === copy.volume)
      await waitUntil(() => reportOf(late) !== undefined, { what: 'the new copy is reported' })
      expect(reportOf(late)).toMatchObject({ state: 'failed', reason: 'no_room' })
      expect([large, small].map((copy) => reportOf(copy)?.state)).toEqual(['present', 'present'])
      await run(containerId, 'rm /data/1M /data/4k; sync')
      expect((await run(nextId, 'echo again > /data/mine && sync')).exitCode).toBe(0)
      node.send([filler, next].map((item) => ({ ...item, desired: 'removed' as const })))
      for (const item of [filler, next]) await node.until(item, 'gone', ({ gone }) => gone)
      await second.close()
    } finally {
      await node.clear()
      home.remove()
    }
  })
})
