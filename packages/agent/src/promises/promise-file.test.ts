import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { asVolumeId } from '@holdfast/contract'
import { makeTempFolder } from '@holdfast/testkit'
import pino from 'pino'
import { afterEach, expect, test } from 'vitest'
import { openPromiseFile } from './promise-file.ts'

const VOLUME = asVolumeId('vol_01JCPZ0000000000000000000A')
const VOTED = { role: 'copy', epoch: 2, cv: 5, prepared: true } as const
const folder = makeTempFolder('promise-file')
afterEach(() => folder.remove())

const open = (nodeId: string, bootId: string, start = 1, path = folder.path) =>
  openPromiseFile({ folder: path, nodeId, bootId, start, log: pino({ level: 'silent' }) })

test('counts boots, and keeps votes for the same node only', async () => {
  const first = await open('n1', 'boot-a')
  expect([first.boot, first.saved.size]).toEqual([1, 0])
  await first.write(new Map([[VOLUME, VOTED]]), false)
  const again = await open('n1', 'boot-a')
  expect([again.boot, again.saved.get(VOLUME)]).toEqual([1, VOTED])
  const rebooted = await open('n1', 'boot-b')
  expect([rebooted.boot, rebooted.saved.get(VOLUME)]).toEqual([2, VOTED])
  const other = await open('n2', 'boot-b')
  expect([other.boot, other.saved.size]).toEqual([2, 0])
})

test.each(['', '{', '{"v":1}', '{"v":2,"nodeId":"n1","boot":{"id":"boot-a","number":1},"volumes":[]}'])(
  'a file with %j is not a node without votes, also after the next start',
  async (text) => {
    const broken = makeTempFolder('promise-file')
    const path = join(broken.path, 'promises.json')
    writeFileSync(path, text)
    const forgetful = await open('n1', 'boot-a', 9, broken.path)
    expect([forgetful.isForgetful, forgetful.boot, forgetful.saved.size]).toEqual([true, 9, 0])
    expect(readFileSync(`${path}.unreadable`, 'utf8')).toBe(text)
    await forgetful.write(new Map([[VOLUME, VOTED]]), true)
    const again = await open('n1', 'boot-b', 10, broken.path)
    expect([again.isForgetful, again.boot, again.saved.size]).toEqual([true, 10, 1])
    await again.write(again.saved, false)
    expect((await open('n1', 'boot-b', 11, broken.path)).isForgetful).toBe(false)
    broken.remove()
  },
)

test('a file that cannot be written is written by the first write that succeeds, and an agent of the same boot needs none', async () => {
  const full = makeTempFolder('promise-file')
  const blocker = join(full.path, 'promises.json.new')
  mkdirSync(blocker)
  const file = await open('n1', 'boot-a', 3, full.path)
  expect([file.boot, file.isWritten()]).toEqual([1, false])
  await expect(file.write(new Map([[VOLUME, VOTED]]), false)).rejects.toThrow()
  rmdirSync(blocker)
  await file.write(new Map([[VOLUME, VOTED]]), false)
  expect(file.isWritten()).toBe(true)
  mkdirSync(blocker)
  const again = await open('n1', 'boot-a', 4, full.path)
  expect([again.boot, again.isWritten(), again.saved.get(VOLUME)]).toEqual([1, true, VOTED])
  expect((await open('n1', 'boot-b', 5, full.path)).isWritten()).toBe(false)
  full.remove()
})
