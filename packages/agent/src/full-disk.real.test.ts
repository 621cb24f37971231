// The agent on a disk without space: it starts, runs containers, refuses what would be unsafe with a message that names the
// disk, and continues on its own when there is space. The disk of its state is a file system in memory; the engine has another.

import { join } from 'node:path'
import { asJobId, ownerOf } from '@holdfast/contract'
import { waitUntil } from '@holdfast/testkit'
import { mountTinyDisk, type TinyDisk } from '@holdfast/testkit/faults/tiny-disk'
import { afterEach, expect, it, test } from 'vitest'
import { openUpstreamFiles } from './adapters/caddy/upstream-files.ts'
import { EnrollmentFailed, enroll } from './enroll/enroll.ts'
import { createTestNode, desiredItem, isUp, newTenant, type TestNode } from './fixtures/agent.fixture.ts'
import { onEngines } from './fixtures/real-engine.fixture.ts'

const disks: TinyDisk[] = []
afterEach(() => {
  for (const disk of disks.splice(0)) disk.remove()
})

function newNode(socketPath: string): { disk: TinyDisk; node: TestNode } {
  const disk = mountTinyDisk(256)
  disks.push(disk)
  return { disk, node: createTestNode(socketPath, undefined, { tenant: newTenant(), folder: disk.path }) }
}

const has = (node: TestNode, text: string): boolean => node.logged.some((line) => line.includes(text))

test('starts with a full disk and no engine, and promises as soon as there is space', async () => {
  const { disk, node } = newNode('/nowhere/docker.sock')
  disk.fill()
  const agent = await node.start()
  expect(node.machine()).toMatchObject({ version: expect.any(String) })
  expect([has(node, 'start count write failed'), has(node, 'promises cannot be written')]).toEqual([
    true,
    true,
  ])
  disk.makeRoom()
  await waitUntil(() => has(node, 'promises written'), { what: 'the number of the boot is written' })
  await agent.close()
})

test('an enrollment spends no token while its keys cannot be written', async () => {
  const { disk } = newNode('')
  disk.fill()
  const enrolled = enroll({
    server: 'https://127.0.0.1:1',
    joinToken: 'unspent',
    nodeName: 'n1',
    labels: {},
    folder: disk.path,
    engine: 'unix:///nowhere/docker.sock',
    engineVersion: { version: '29.0', apiVersion: '1.56' },
  })
  await expect(enrolled).rejects.toThrow(EnrollmentFailed)
  await expect(enrolled).rejects.toThrow('join token is still valid')
})

test('changes the upstreams of the router while the disk is full', async () => {
  const disk = mountTinyDisk(1024)
  disks.push(disk)
  const folder = join(disk.path, 'upstreams')
  const upstreams = openUpstreamFiles(folder)
  const names = Array.from({ length: 20 }, (_, at) => `web${at}`)
  const routes = [{ host: 'web.test', path: '/', port: 80 }]
  const allAt = (address: string) => names.map((name) => ({ name, routes, local: [address], peers: [] }))
  await upstreams.write(allAt('10.208.0.2'))
  disk.fill()
  for (const address of ['10.208.0.3', '10.208.0.4', '10.208.0.5']) {
    await upstreams.write(allAt(address))
    expect(await upstreams.read()).toEqual(new Map(names.map((name) => [name, [address]])))
  }
  // The space is back, is kept again, and serves the next agent on a disk that is full again.
  disk.makeRoom()
  await upstreams.write(allAt('10.208.0.2'))
  disk.fill()
  await openUpstreamFiles(folder).write(allAt('10.208.0.6'))
  expect((await upstreams.read()).get('web0')).toEqual(['10.208.0.6'])
})

onEngines('an agent with a full disk', (world) => {
  it('runs containers, and starts a job only when its start is on disk', async () => {
    const { disk, node } = newNode(world().docker.socketPath)
    disk.fill()
    const agent = await node.start()
    const web = desiredItem(world().image)
    const template = { name: 'once', runs: 'once' as const, command: ['/bin/sh', '-c', 'sleep 60'] }
    const job = desiredItem(world().image, template, {
      owner: ownerOf('job', asJobId('job_01JCPZ0000000000000000000A')),
    })
    node.send([web, job])
    await node.until(web, 'running', isUp)
    const waiting = await node.until(job, 'refused', ({ reason }) => reason === 'start_failed')
    expect(waiting.cause).toContain('no space left on device')
    expect(waiting.cause).toContain('Free space')
    disk.makeRoom()
    await node.until(job, 'running', isUp)
    await agent.close()
    await node.clear()
  })
})
