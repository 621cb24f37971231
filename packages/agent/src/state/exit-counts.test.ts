import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeTempFolder } from '@holdfast/testkit'
import pino from 'pino'
import { expect, test } from 'vitest'
import { openExitCounts } from './exit-counts.ts'

const log = pino({ level: 'silent' })
const AT = '2026-11-17T09:00:00Z'

test('a restarted agent continues the counts of its predecessor, without those of removed containers', async () => {
  const { path } = makeTempFolder('counts')
  const first = await openExitCounts(path, log)
  first.note('a', 1, AT)
  first.note('a', 2, AT)
  first.note('b', 1, AT)
  first.forget('b')
  await first.settled()
  const next = await openExitCounts(path, log)
  expect([next.of('a'), next.of('b')]).toEqual([{ containerId: 'a', count: 2, lastAt: AT }, undefined])
})

test('drops the oldest counts, and starts from zero if the file is unreadable', async () => {
  const { path } = makeTempFolder('counts')
  const counts = await openExitCounts(path, log)
  for (let index = 0; index <= 256; index += 1) counts.note(`c${index}`, 1, AT)
  expect([counts.of('c0'), counts.of('c1')?.count]).toEqual([undefined, 1])
  await counts.settled()
  writeFileSync(join(path, 'exit-counts.json'), '{')
  expect((await openExitCounts(path, log)).of('c1')).toBeUndefined()
})
