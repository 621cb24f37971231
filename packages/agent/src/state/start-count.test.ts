// The agent starts with a disk that it cannot write. A folder with the name of the temporary file makes writes fail, as a full
// disk does.

import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeTempFolder, waitUntil } from '@holdfast/testkit'
import pino from 'pino'
import { expect, test } from 'vitest'
import { countStart, reserveStartCount } from './start-count.ts'

const log = pino({ enabled: false })

function fullFolder() {
  const { path } = makeTempFolder('starts')
  const blocker = join(path, 'starts.new')
  return {
    path,
    fill: () => mkdirSync(blocker),
    makeRoom: () => rmdirSync(blocker),
    text: () => readFileSync(join(path, 'starts'), 'utf8'),
  }
}

test.each([
  ['the reserved file of an enrollment', undefined, '1'],
  ['a count of this agent', `${String(99).padEnd(16)}`, '100'],
  ['a count of an older agent with as many digits', '41', '42'],
])('on a full disk, a start replaces %s in its place', async (_, before, after) => {
  const disk = fullFolder()
  if (before === undefined) await reserveStartCount(disk.path)
  else writeFileSync(join(disk.path, 'starts'), before)
  disk.fill()
  const count = await countStart(disk.path, log)
  expect([count.number, count.isSaved(), disk.text().trim()]).toEqual([Number(after), true, after])
  await count.close()
})

test.each([
  ['there is no file', undefined, 1],
  ['the number would need another byte', '99', 100],
])(
  'a start whose number cannot be written counts in memory and is written later: %s',
  async (_, before, number) => {
    const disk = fullFolder()
    if (before !== undefined) writeFileSync(join(disk.path, 'starts'), before)
    disk.fill()
    const count = await countStart(disk.path, log, 5)
    expect([count.number, count.isSaved()]).toEqual([number, false])
    disk.makeRoom()
    await waitUntil(() => count.isSaved(), { what: 'the number is written' })
    expect(disk.text().trim()).toBe(String(number))
    await count.close()
  },
)

test('an enrollment keeps the count of an earlier one', async () => {
  const { path } = makeTempFolder('starts')
  writeFileSync(join(path, 'starts'), '7')
  await reserveStartCount(path)
  const count = await countStart(path, log)
  expect(count.number).toBe(8)
  await count.close()
})
