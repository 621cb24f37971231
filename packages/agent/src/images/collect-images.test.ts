// The collector on an engine whose disk the test fills: what it removes, what it keeps, and what it does about failures.

import type { DiskUse } from '@holdfast/contract'
import { makeTempFolder } from '@holdfast/testkit'
import pino from 'pino'
import { expect, test } from 'vitest'
import type { ListedContainer } from '../ports/engine.ts'
import { startImageCollector } from './collect-images.ts'
import { openPullRecord } from './pull-record.ts'

const HOUR = 3_600_000
const NOW = 1_000 * HOUR
const container = (image: string, imageId: string): ListedContainer => ({
  id: 'c',
  name: 'other',
  image,
  imageId,
  state: 'exited',
  createdAt: 0,
  labels: {},
  addresses: [],
})

/** An engine whose images have the size 1 each, on a disk with 100. */
async function start(occupied: number, over: { used?: string[]; containers?: ListedContainer[] } = {}) {
  const { path } = makeTempFolder('collector')
  const logged: string[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void logged.push(line) })
  const record = await openPullRecord(path, log)
  const images = new Map<string, string>()
  const world = {
    now: NOW,
    used: new Set(over.used) as Set<string> | undefined,
    refused: new Set<string>(),
    broken: new Set<string>(),
    removed: [] as string[],
    forgotten: [] as string[],
  }
  const collector = startImageCollector({
    engine: {
      listContainers: async () => over.containers ?? [],
      findImage: async (reference) => images.get(reference),
      async removeImage(reference) {
        if (world.broken.has(reference)) throw new Error('the engine is broken')
        if (world.refused.has(reference)) return 'in_use'
        images.delete(reference)
        world.removed.push(reference)
        return 'removed'
      },
    },
    record,
    usedImages: () => world.used,
    async readDisk(): Promise<DiskUse> {
      return { totalBytes: 100, freeBytes: 100 - occupied - images.size, inodes: 0, freeInodes: 0 }
    },
    onRemoved: (reference) => void world.forgotten.push(reference),
    now: () => world.now,
    checkMs: HOUR,
    log,
  })
  /** Pulls images now, each of its own content. */
  const pull = (...references: string[]): void => {
    for (const reference of references) {
      record.notePull(reference, world.now)
      images.set(reference, `sha256:${reference}`)
    }
  }
  return { world, images, record, collector, pull, logged, path, log }
}

test('removes old images down to 70 %, the least recently used first, and keeps those of assignments', async () => {
  const { world, pull, collector, images, record } = await start(65, { used: ['kept'] })
  pull('kept', 'first', 'second')
  world.now += HOUR
  pull(...Array.from({ length: 8 }, (_, index) => `more-${index}`))
  world.now += 25 * HOUR
  record.noteUse(['first'], world.now - 24 * HOUR)
  await collector.check()
  expect(world.removed).toEqual(['second', 'more-0', 'more-1', 'more-2', 'more-3', 'more-4'])
  expect(world.forgotten).toEqual(world.removed)
  expect([images.size, images.has('kept')]).toEqual([5, true])
  collector.close()
})

test('below 75 %, and before the desired set is known, nothing is removed', async () => {
  const { world, pull, collector } = await start(72)
  pull('a', 'b')
  world.now += 48 * HOUR
  await collector.check()
  world.used = undefined
  pull('c', 'd', 'e')
  world.now += 48 * HOUR
  await collector.check()
  expect(world.removed).toEqual([])
  world.used = new Set()
  await collector.check()
  expect(world.removed).toHaveLength(5)
  collector.close()
})

test('above 85 % recent images go as well, but not fresh ones, and a disk that stays full is logged once', async () => {
  const { world, pull, collector, logged } = await start(90)
  pull('recent')
  world.now += 11 * 60_000
  pull('fresh')
  await collector.check()
  await collector.check()
  expect(world.removed).toEqual(['recent'])
  expect(logged.filter((line) => line.includes('nearly full'))).toHaveLength(1)
  collector.close()
})

test('an image that a container uses stays, by its name, its content, or by the refusal of the engine', async () => {
  const containers = [container('by-name', 'sha256:x'), container('other-tag', 'sha256:by-content')]
  const { world, pull, collector, record } = await start(95, { containers })
  pull('by-name', 'by-content', 'refused', 'free')
  world.now += HOUR
  world.refused.add('refused')
  await collector.check()
  expect(world.removed).toEqual(['free'])
  expect(record.all().map(({ reference }) => reference)).toEqual(['by-name', 'by-content', 'refused'])
  collector.close()
})

test('a failed removal keeps no other image from being removed, and one that is gone is forgotten', async () => {
  const { world, pull, collector, images, record } = await start(95)
  pull('broken', 'gone', 'free')
  images.delete('gone')
  world.broken.add('broken')
  world.now += HOUR
  await collector.check()
  expect(world.removed).toEqual(['free'])
  expect(record.all().map(({ reference }) => reference)).toEqual(['broken'])
  world.broken.clear()
  await collector.check()
  expect(world.removed).toEqual(['free', 'broken'])
  collector.close()
})

test('the record survives a restart, is bounded, and an unreadable one removes nothing', async () => {
  const { pull, record, path, log, collector } = await start(0)
  pull('a', ...Array.from({ length: 1000 }, (_, index) => `more-${index}`))
  collector.close()
  await record.close()
  const again = await openPullRecord(path, log)
  expect(again.all()).toHaveLength(1000)
  expect(again.all().map(({ reference }) => reference)).not.toContain('a')
})
