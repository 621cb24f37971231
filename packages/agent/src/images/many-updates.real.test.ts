// A node that is updated again and again, each time to another image, on real engines with a small disk of their own. All
// images together are several times as large as the disk. Each update is half a day later, by the test's clock.

import { randomBytes } from 'node:crypto'
import { statfsSync } from 'node:fs'
import { join } from 'node:path'
import { type DockerWithRegistry, startDockerWithRegistry, waitUntil } from '@holdfast/testkit'
import { inRun } from '@holdfast/testkit/long-run'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDiskReader } from '../adapters/kernel/disk-use.ts'
import { createTestNode, desiredItem, isUp, type TestNode } from '../fixtures/agent.fixture.ts'
import { LINES_IN_TURN } from '../fixtures/real-engine.fixture.ts'

const UPDATES = inRun(12, 200)
const MIB = 1024 ** 2
const DISK_BYTES = 160 * MIB
/** One engine keeps the layers of an image packed and unpacked, so each image needs up to twice this space. */
const IMAGE_BYTES = 14 * MIB
const HALF_A_DAY_MS = 12 * 3_600_000
/** A day, in steps of half a day, and a step more, because images age from the time at which they were last seen in use. */
const DAY = 3
const MOST_PERCENT = 75
const TIMEOUT_MS = inRun(300_000, 3_600_000)

interface World extends DockerWithRegistry {
  readonly node: TestNode
  usedPercent(): number
}

/** Pushes an image that shares nothing but its busybox with the others. */
async function pushImage({ registry }: World, at: number): Promise<string> {
  const files = [{ name: 'content', content: randomBytes(IMAGE_BYTES) }]
  const { digest } = await registry.pushBusyboxImage('test/updates', String(at), { files })
  return `${registry.host}/test/updates@${digest}`
}

async function startWorld(line: 'old' | 'new'): Promise<World> {
  const engines = await startDockerWithRegistry(line, { diskBytes: DISK_BYTES })
  const folder = join(engines.docker.folder, 'lib', 'docker')
  const usedPercent = (): number => {
    const { blocks, bavail } = statfsSync(folder)
    return (100 * (blocks - bavail)) / blocks
  }
  return { ...engines, node: createTestNode(engines.docker.socketPath), usedPercent }
}

describe.concurrent.each(LINES_IN_TURN)('a node with the %s engine', (line) => {
  let world: World
  beforeAll(async () => {
    world = await startWorld(line)
  })
  afterAll(async () => {
    await world?.docker.stop()
    await world?.registry.stop()
  })

  it(
    'keeps its disk below the limit through many updates',
    async () => {
      const { node, usedPercent } = world
      let later = 0
      const imageNow = () => Date.now() + later * HALF_A_DAY_MS
      node.images = { disk: createDiskReader(), imageCheckMs: 200, imageNow }
      const agent = await node.start()
      let [previous, most] = [desiredItem('none'), 0]
      for (let at = 0; at < UPDATES; at += 1) {
        later = at
        const item = desiredItem(await pushImage(world, at))
        // As a server does, the test names a replaced container as removed until it is gone.
        node.send(at === 0 ? [item] : [{ ...previous, desired: 'removed' as const }, item])
        await node.until(item, 'running', isUp)
        most = Math.max(most, usedPercent())
        await waitUntil(
          async () => (await node.engine.listLabelled('holdfast.io/tenant', node.tenant)).length === 1,
          { what: 'the replaced container is gone' },
        )
        previous = item
      }
      // Images that were replaced within a day stay below 85 %, and the new engine needs 28 MiB for each.
      later += DAY
      await waitUntil(() => usedPercent() < MOST_PERCENT, {
        what: `less than ${MOST_PERCENT} % of the disk is used`,
        seen: () => `${usedPercent()} %`,
      })
      const removed = node.logged.filter((text) => text.includes('unused image removed')).length
      console.log(
        `${line} engine: ${UPDATES} updates, at most ${most.toFixed(1)} % used, ${usedPercent().toFixed(1)} % at the end, ${removed} images removed`,
      )
      expect(removed).toBeGreaterThan(0)
      expect(await node.engine.hasImage(previous.template.image)).toBe(true)
      await agent.close()
      await node.clear()
    },
    TIMEOUT_MS,
  )
})
