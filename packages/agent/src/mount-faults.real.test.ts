// The agent dies while it creates or removes a container with a volume: its successor converges, the volume has the whole
// content of the image, and nothing else is left on the machine.

import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { VolumeId } from '@holdfast/contract'
import { SEED_LABEL, seedName, seedSettings, TENANT_LABEL } from '@holdfast/core/node'
import { uniqueName, waitUntil } from '@holdfast/testkit'
import { inRun } from '@holdfast/testkit/long-run'
import Docker from 'dockerode'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { desiredItem, isUp } from './fixtures/agent.fixture.ts'
import { dyingAfter } from './fixtures/dying.fixture.ts'
import { onBothEngines } from './fixtures/real-engine.fixture.ts'
import {
  cgroupsOf,
  copyLeftovers,
  mountOf,
  startVolumes,
  type TestVolumes,
} from './fixtures/volumes.fixture.ts'

/** Step between the engine calls at which the agent dies: every call in a long run, every third call in a short run. */
const STEP = inRun(3, 1)
const FILES = ['a', 'b', 'c']
const COMMAND = ['/bin/sh', '-c', "trap 'exit 0' TERM; sleep 3600 & wait"]

onBothEngines('faults of mounts', (world, line) => {
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
})
