import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { asVolumeId } from '@holdfast/contract'
import { makeTempFolder } from '@holdfast/testkit'
import { afterEach, expect, test } from 'vitest'
import { openPromiseFile } from './promise-file.ts'

const VOLUME = asVolumeId('vol_01JCPZ0000000000000000000A')
const VOTED = { role: 'copy', epoch: 2, cv: 5, prepared: true } as const
const folder = makeTempFolder('promise-file')
afterEach(() => folder.remove())

test('counts boots, and keeps votes for the same node only', async () => {
  const first = await openPromiseFile(folder.path, 'n1', 'boot-a')
  expect([first.boot, first.saved.size]).toEqual([1, 0])
  await first.write(new Map([[VOLUME, VOTED]]))
  const again = await openPromiseFile(folder.path, 'n1', 'boot-a')
  expect([again.boot, again.saved.get(VOLUME)]).toEqual([1, VOTED])
  const rebooted = await openPromiseFile(folder.path, 'n1', 'boot-b')
  expect([rebooted.boot, rebooted.saved.get(VOLUME)]).toEqual([2, VOTED])
  const other = await openPromiseFile(folder.path, 'n2', 'boot-b')
  expect([other.boot, other.saved.size]).toEqual([2, 0])
})

test.each(['', '{', '{"v":1}'])('a file with %j is an error and not a node without votes', async (text) => {
  const broken = makeTempFolder('promise-file')
  writeFileSync(join(broken.path, 'promises.json'), text)
  await expect(openPromiseFile(broken.path, 'n1', 'boot-a')).rejects.toThrow('may have forgotten a vote')
  broken.remove()
})
