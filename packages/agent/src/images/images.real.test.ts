// Images on real engines of both supported Docker versions. The use of the disk and the ages of images are the test's.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PulledImage } from '@holdfast/core/node'
import { uniqueName, waitUntil } from '@holdfast/testkit'
import Docker from 'dockerode'
import { expect, it } from 'vitest'
import type { Agent } from '../agent.ts'
import { createTestNode, desiredItem, isUp, type TestNode } from '../fixtures/agent.fixture.ts'
import { onEnginesAtOnce, type RealWorld } from '../fixtures/real-engine.fixture.ts'

const TWO_DAYS = 48 * 3_600_000

/** Pushes images of different content. */
async function pushImages({ registry }: RealWorld, count: number): Promise<string[]> {
  const repository = `test/${uniqueName('images')}`
  const references: string[] = []
  for (let at = 0; at < count; at += 1) {
    const { digest } = await registry.pushBusyboxImage(repository, String(at))
    references.push(`${registry.host}/${repository}@${digest}`)
  }
  return references
}

/**
 * Updates the node to each of the images, one after the other, so that the agent has pulled all of them. As a server does, it
 * names a replaced container as removed until that is gone.
 */
async function updateTo(node: TestNode, images: readonly string[]): Promise<void> {
  const items = images.map((image) => desiredItem(image, { name: uniqueName('web') }))
  for (const [at, item] of items.entries()) {
    const replaced = items.slice(0, at).map((one) => ({ ...one, desired: 'removed' as const }))
    node.send([...replaced, item])
    await node.until(item, 'running', isUp)
  }
  await waitUntil(
    async () => (await node.engine.listLabelled('holdfast.io/tenant', node.tenant)).length === 1,
    { what: 'the replaced containers are removed' },
  )
  node.send(items.slice(-1))
}

/** Restarts the agent with images that are two days older. */
async function restartLater(node: TestNode, agent: Agent): Promise<Agent> {
  await agent.close()
  const path = join(node.folder, 'images.json')
  const { images }: { images: PulledImage[] } = JSON.parse(readFileSync(path, 'utf8'))
  const aged = images.map(({ reference, pulledMs, usedMs }) => ({
    reference,
    pulledMs: pulledMs - TWO_DAYS,
    usedMs: usedMs - TWO_DAYS,
  }))
  writeFileSync(path, JSON.stringify({ images: aged }))
  return node.start()
}

onEnginesAtOnce('the images of a node', (world) => {
  it('of earlier updates are removed on a full disk, those in use and those of others stay', async () => {
    const images = await pushImages(world(), 5)
    const [old = '', stopped = '', tagged = '', current = '', foreign = ''] = images
    const node = createTestNode(world().docker.socketPath)
    const outside = new Docker({ socketPath: world().docker.socketPath })
    await node.engine.pullImage(foreign, undefined)
    const agent = await node.start()
    await updateTo(node, [old, stopped, tagged, current])
    const container = await outside.createContainer({ Image: stopped })
    await outside.getImage(tagged).tag({ repo: 'outside/kept', tag: '1' })
    const folders: string[] = []
    const use = async (folder: string) => {
      folders.push(folder)
      return { totalBytes: 100, freeBytes: 10, inodes: 0, freeInodes: 0 }
    }
    node.images = { disk: { use }, imageCheckMs: 100 }
    const later = await restartLater(node, agent)
    await waitUntil(async () => !(await node.engine.hasImage(old)), { what: 'the old image is removed' })
    const checks = folders.length
    await waitUntil(() => folders.length > checks + 3, { what: 'further checks' })
    const left = await Promise.all([stopped, current, foreign, 'outside/kept:1'].map(node.engine.hasImage))
    expect(left).toEqual([true, true, true, true])
    expect(folders[0]).toContain(world().docker.folder)
    await later.close()
    await container.remove()
    await outside.getImage('outside/kept:1').remove()
    await node.clear()
  })
})
