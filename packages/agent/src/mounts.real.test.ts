// Containers with volumes on real engines of both supported Docker versions and a real pool. The test acts as the server.

import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ContainerTemplate, DesiredItem, VolumeId } from '@holdfast/contract'
import { findUnsafeSettings, ownParts, tenantNetwork } from '@holdfast/core/node'
import { uniqueName, waitUntil } from '@holdfast/testkit'
import { runCommand } from '@holdfast/testkit/run-command'
import Docker from 'dockerode'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { MIB } from './adapters/btrfs/pool.fixture.ts'
import { desiredItem, isUp, type TestNode } from './fixtures/agent.fixture.ts'
import { onEnginesAtOnce } from './fixtures/real-engine.fixture.ts'
import {
  cgroupsOf,
  copyLeftovers,
  mountOf,
  readText,
  startVolumes,
  type TestVolumes,
} from './fixtures/volumes.fixture.ts'

const SERVE = "trap 'exit 0' TERM; sleep 3600 & wait"
const shell = (script: string) => ({ command: ['/bin/sh', '-c', script] })

onEnginesAtOnce('mounts', (world) => {
  const bare = (): Docker => new Docker({ socketPath: world().docker.socketPath })
  let volumes: TestVolumes
  /** An image with content in /data, and with nothing in /empty. */
  let image: string
  beforeAll(async () => {
    volumes = await startVolumes()
    const files = [
      { name: 'data/inner/file', content: Buffer.from('from the image\n') },
      { name: 'data/top', content: Buffer.from('top\n') },
    ]
    const { digest } = await world().registry.pushBusyboxImage('test/content', '1', { files })
    image = `${world().registry.host}/test/content@${digest}`
  })
  afterAll(() => volumes?.home.remove())

  const newNode = async () => {
    const { docker } = world()
    const node = volumes.newNode(docker.socketPath, docker.cgroup)
    return { node, agent: await node.start() }
  }
  const itemWith = (template: Partial<ContainerTemplate>): DesiredItem =>
    desiredItem(image, { name: uniqueName('v'), ...shell(SERVE), ...template })
  const run = async (node: TestNode, id: string | null, script: string) => {
    const { exitCode, output } = await node.engine.runProbe(id ?? '', ['/bin/sh', '-c', script], 10_000)
    return { exitCode, output: output.text.trim() }
  }
  const remove = async (node: TestNode, ...items: DesiredItem[]) => {
    node.send(items.map((item) => ({ ...item, desired: 'removed' as const })))
    for (const item of items) await node.until(item, 'gone', ({ gone }) => gone)
  }
  const untilNoCgroup = (volume: VolumeId) =>
    waitUntil(() => cgroupsOf(world().docker.cgroup, volume).length === 0, { what: 'the cgroup is gone' })

  it('keeps data in the volume through the replacement of its container', async () => {
    const volume = await volumes.add()
    const { node, agent } = await newNode()
    const mounts = [mountOf(volume)]
    const first = itemWith({ mounts })
    node.send([first])
    const { containerId } = await node.until(first, 'running', isUp)
    expect(await run(node, containerId, 'echo kept > /data/mine; cat /data/inner/file /data/top')).toEqual({
      exitCode: 0,
      output: 'from the image\ntop',
    })
    expect(readText(volumes.at(volume, 'mine'))).toBe('kept')
    expect(readdirSync(volumes.at(volume)).toSorted()).toEqual(['inner', 'mine', 'top'])

    // A setting of the container that the engine reports is one that the agent would have created.
    const found = await bare()
      .getContainer(containerId ?? '')
      .inspect()
    const places = { volumes: join(node.folder, 'volumes'), cgroup: `${world().docker.cgroup}/writers` }
    const own = ownParts(first.template, [tenantNetwork(node.tenant)], places)
    expect(findUnsafeSettings(JSON.parse(JSON.stringify(found)), own)).toEqual([])
    expect(found.HostConfig.RestartPolicy?.Name).toBe('no')
    expect(cgroupsOf(world().docker.cgroup, volume).length).toBeGreaterThan(0)

    await remove(node, first)
    writeFileSync(volumes.at(volume, 'top'), 'changed\n')
    const second = itemWith({ mounts })
    node.send([second])
    const { containerId: next } = await node.until(second, 'running', isUp)
    expect((await run(node, next, 'cat /data/mine /data/top')).output).toBe('kept\nchanged')
    await remove(node, second)
    await untilNoCgroup(volume)
    await agent.close()
  })

  it('copies the content of the image for volume, and not for bind', async () => {
    const [copied, bound, empty] = [await volumes.add(), await volumes.add(), await volumes.add()]
    const { node, agent } = await newNode()
    const item = itemWith({
      mounts: [
        mountOf(copied),
        mountOf(bound, { target: '/www', type: 'bind' }),
        mountOf(empty, { target: '/empty/deep' }),
      ],
    })
    node.send([item])
    const { containerId } = await node.until(item, 'running', isUp)
    expect((await run(node, containerId, 'ls /data; ls -A /www /empty/deep | grep -v :')).output).toBe(
      'inner\ntop',
    )
    expect(statSync(volumes.at(copied)).mode & 0o777).toBe(0o755)
    expect([readdirSync(volumes.at(bound)), readdirSync(volumes.at(empty))]).toEqual([[], []])
    expect(await copyLeftovers(node)).toEqual([])
    await remove(node, item)
    await agent.close()
  })

  it('limits a tmpfs to its size, without set-user-id programs and devices, and honors readOnly', async () => {
    const volume = await volumes.add()
    writeFileSync(volumes.at(volume, 'file'), 'content\n')
    const { node, agent } = await newNode()
    const item = itemWith({
      mounts: [
        mountOf(volume, { target: '/read', readOnly: true }),
        mountOf(volume, { target: '/cache', type: 'tmpfs', sizeBytes: 2 * MIB }),
        mountOf(volume, { target: '/fixed', type: 'tmpfs', sizeBytes: MIB, readOnly: true }),
      ],
    })
    node.send([item])
    const { containerId } = await node.until(item, 'running', isUp)
    const fill = await run(
      node,
      containerId,
      'dd if=/dev/zero of=/cache/big bs=65536 count=64; wc -c /cache/big',
    )
    expect(fill.output).toContain('No space left')
    expect(fill.output).toContain(`${2 * MIB} /cache/big`)
    expect((await run(node, containerId, 'cat /proc/mounts | grep " /cache "')).output).toMatch(
      /nosuid.*nodev|nodev.*nosuid/,
    )
    expect((await run(node, containerId, 'cat /read/file && touch /read/new')).output).toContain('Read-only')
    expect((await run(node, containerId, 'touch /fixed/new')).output).toContain('Read-only')
    expect(existsSync(volumes.at(volume, 'new'))).toBe(false)
    // The tmpfs has no lasting data, and a reader has no cgroup of a volume.
    expect(cgroupsOf(world().docker.cgroup, volume)).toEqual([])
    await remove(node, item)
    await agent.close()
  })

  it('lets another user than root write an empty volume with the owner of the folder in its image', async () => {
    const [owned, bound, plain] = [await volumes.add(), await volumes.add(), await volumes.add()]
    const files = [{ name: 'data/', owner: 1000 }]
    const { digest } = await world().registry.pushBusyboxImage('test/user', '1', { files, user: '1000' })
    const { node, agent } = await newNode()
    const item = itemWith({
      image: `${world().registry.host}/test/user@${digest}`,
      mounts: [
        mountOf(owned),
        mountOf(bound, { target: '/bound', type: 'bind' }),
        mountOf(plain, { target: '/plain' }),
      ],
    })
    node.send([item])
    const { containerId } = await node.until(item, 'running', isUp)
    const tried = await run(
      node,
      containerId,
      'id -u; for at in /data /bound /plain; do ls $at && touch $at/new 2>/dev/null && echo written $at; done',
    )
    // Everyone can enter a volume; root's stays root's where the image has no folder, and for bind.
    expect(tried.output.split('\n')).toEqual(['1000', 'written /data'])
    const of = (volume: VolumeId) => [
      statSync(volumes.at(volume)).uid,
      statSync(volumes.at(volume)).mode & 0o777,
    ]
    expect([of(owned), of(bound), of(plain)]).toEqual([
      [1000, 0o700],
      [0, 0o755],
      [0, 0o755],
    ])
    await remove(node, item)
    await agent.close()
  })

  it('stops a writer at the limit of its volume', async () => {
    const volume = await volumes.add(4 * MIB)
    const { node, agent } = await newNode()
    const item = itemWith({ mounts: [mountOf(volume, { type: 'bind' })] })
    node.send([item])
    const { containerId } = await node.until(item, 'running', isUp)
    const { output } = await run(node, containerId, 'dd if=/dev/zero of=/data/big bs=65536 count=128')
    expect(output).toContain('quota exceeded')
    await remove(node, item)
    await agent.close()
  })

  it('restarts a writer that exits, counts its exits and waits longer each time', async () => {
    const volume = await volumes.add()
    const { node, agent } = await newNode()
    const script = 'echo start >> /data/starts; exit 7'
    const item = itemWith({ ...shell(script), mounts: [mountOf(volume, { type: 'bind' })] })
    node.send([item])
    const seen = await node.until(item, 'restarted', ({ restarts }) => restarts >= 3)
    expect(seen).toMatchObject({ exitCode: 7, lastExit: { code: 7 }, containerId: expect.any(String) })
    const own = node.reports.filter(({ assignmentId }) => assignmentId === item.assignmentId)
    // As for a container that the engine restarts, the third exit is reported as the third restart.
    const exited = own.filter(({ reason }) => reason === 'exited')
    expect(exited.map(({ restarts }) => restarts)).toEqual(expect.arrayContaining([1, 2, 3]))
    expect(exited.every(({ state }) => state === 'running')).toBe(true)
    const counts = own.map(({ restarts }) => restarts)
    expect(counts).toEqual(counts.toSorted((a, b) => a - b))
    // The delays double from 100 ms. A loaded machine only makes them longer. The engine may date the start of a short run
    // after its end, so only runs that were seen up count.
    for (const { startedAt, lastExit, restarts } of own.filter(({ reason }) => reason === '')) {
      const waitedMs = Date.parse(startedAt ?? '') - Date.parse(lastExit?.at ?? '')
      if (waitedMs > 0) expect(waitedMs).toBeGreaterThanOrEqual(100 * 2 ** (restarts - 1) - 1)
    }
    expect(readText(volumes.at(volume, 'starts')).split('\n').length).toBeGreaterThanOrEqual(3)
    expect((await node.containersOf(item)).length).toBe(1)
    const { RestartCount } = await bare()
      .getContainer(seen.containerId ?? '')
      .inspect()
    expect(RestartCount).toBe(0)

    // A restarted agent continues the count.
    await agent.close()
    const before = node.newest(item)?.restarts ?? 0
    const next = await node.start()
    node.send([item])
    const later = await node.until(item, 'restarted again', ({ restarts }) => restarts > before)
    expect(later.containerId).toBe(seen.containerId)
    await remove(node, item)
    await next.close()
  })

  it('never creates or starts a container while a volume cannot be mounted', async () => {
    const volume = await volumes.add()
    volumes.allow(volume, false)
    const { node, agent } = await newNode()
    const item = itemWith({ mounts: [mountOf(volume)] })
    const reader = itemWith({ mounts: [mountOf(volume, { readOnly: true })] })
    node.send([item, reader])
    for (const one of [item, reader]) {
      const seen = await node.until(one, 'waiting', ({ reason }) => reason === 'volume_not_mounted')
      expect(seen).toMatchObject({ state: 'starting', containerId: null, restarts: 0 })
      expect(seen.about).toBe(`The volume ${volume} cannot be mounted on this node now.`)
      expect(await node.containersOf(one)).toEqual([])
    }

    // The copy is as desired, but the kernel has nothing mounted there: the folder must not be given to the container.
    const point = join(node.folder, 'volumes', volume)
    runCommand('umount', [point])
    volumes.allow(volume, true)
    await node.until(item, 'still waiting', ({ about }) => about?.includes('is not mounted at') === true)
    expect(await node.containersOf(item)).toEqual([])
    expect(readdirSync(point)).toEqual([])

    await volumes.home.pool.provision(volume, 32 * MIB)
    volumes.allow(volume, true)
    const { containerId } = await node.until(item, 'running', isUp)
    await node.until(reader, 'running', isUp)

    // The container ends while the copy is being handed over: it stays down until the copy is back.
    volumes.allow(volume, false)
    await bare()
      .getContainer(containerId ?? '')
      .kill()
    await node.until(item, 'down', ({ reason }) => reason === 'volume_not_mounted')
    expect((await node.engine.inspectContainer(containerId ?? '')).state).toBe('exited')
    volumes.allow(volume, true)
    const back = await node.until(item, 'up again', (seen) => isUp(seen) && seen.reason === '')
    expect([back.containerId, back.restarts]).toEqual([containerId, 1])
    await remove(node, item, reader)
    await agent.close()
  })

  it('creates no second writer of a volume for another assignment', async () => {
    const volume = await volumes.add()
    const { node, agent } = await newNode()
    const mounts = [mountOf(volume)]
    const [first, second] = [itemWith({ mounts }), itemWith({ mounts })]
    node.send([first, second])
    const isWriter = (item: DesiredItem): boolean => {
      const seen = node.newest(item)
      return seen !== undefined && isUp(seen) && seen.reason === ''
    }
    const running = () => [first, second].filter(isWriter)
    const waiting = () => [first, second].filter((item) => node.newest(item)?.reason === 'volume_not_mounted')
    await waitUntil(() => running().length === 1 && waiting().length === 1, {
      what: 'one writes and one waits',
      seen: () => JSON.stringify([node.newest(first), node.newest(second)]),
    })
    const [writer, other] = [running()[0] ?? first, waiting()[0] ?? second]
    expect(node.newest(other)?.about).toContain('has another writer')
    // It is refused again while the first one runs, and not only while that one is created.
    const refusals = () => node.logged.filter((one) => one.includes('has another writer')).length
    const before = refusals()
    volumes.allow(volume, true)
    await waitUntil(() => refusals() > before, { what: 'the second is refused again' })
    expect(await node.containersOf(other)).toEqual([])
    // The next writer appears only after the container of the first is gone.
    node.send([{ ...writer, desired: 'removed' }, other])
    await node.until(writer, 'gone', ({ gone }) => gone)
    await node.until(other, 'running', isUp)
    expect(await node.containersOf(writer)).toEqual([])
    await remove(node, other)
    await untilNoCgroup(volume)
    await agent.close()
  })

  it('removes a container whose mounts or restart policy were changed', async () => {
    const volume = await volumes.add()
    const { node, agent } = await newNode()
    const item = itemWith({ mounts: [mountOf(volume)] })
    node.send([item])
    const { containerId } = await node.until(item, 'running', isUp)
    const container = bare().getContainer(containerId ?? '')
    await container.update({ RestartPolicy: { Name: 'always' } })
    await container.kill()
    const next = await node.until(
      item,
      'replaced',
      (seen) => isUp(seen) && ![null, containerId].includes(seen.containerId),
    )
    expect(await node.containersOf(item)).toEqual([next.containerId])
    await remove(node, item)
    await agent.close()
  })
})
