// Ordinary folders stand in for volumes: the adapter only moves entries inside of one.

import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { makeTempFolder } from '@holdfast/testkit'
import { expect, test } from 'vitest'
import { createSeedFolder } from './seed-folder.ts'

const { openSeed, finishSeed } = createSeedFolder()
const newVolume = (): string => makeTempFolder('seed').path

test('an empty volume gets the content, owner and permissions of the folder', async () => {
  const volume = newVolume()
  const folder = (await openSeed(volume)) ?? ''
  mkdirSync(join(folder, 'sub'), { mode: 0o710 })
  writeFileSync(join(folder, 'sub', 'file'), 'content')
  symlinkSync('/etc', join(folder, 'link'))
  await finishSeed(volume)
  expect(readdirSync(volume).toSorted()).toEqual(['link', 'sub'])
  expect(readFileSync(join(volume, 'sub', 'file'), 'utf8')).toBe('content')
  expect(await openSeed(volume)).toBeUndefined()
})

test('a volume that stays empty keeps its permissions and can get content later', async () => {
  const volume = newVolume()
  const { mode } = statSync(volume)
  for (const _ of [1, 2]) {
    expect(await openSeed(volume)).toBeDefined()
    await finishSeed(volume)
    expect([readdirSync(volume), statSync(volume).mode]).toEqual([[], mode])
  }
})

test('an incomplete copy is dropped', async () => {
  const volume = newVolume()
  const folder = (await openSeed(volume)) ?? ''
  writeFileSync(join(folder, 'half'), '')
  expect(await openSeed(volume)).toBe(folder)
  expect(readdirSync(folder)).toEqual([])
})

test('a complete copy that was moved in part is moved in full, and replaces nothing', async () => {
  const volume = newVolume()
  const complete = join(volume, '.holdfast-seed', 'complete')
  mkdirSync(complete, { recursive: true })
  for (const name of ['first', 'second']) writeFileSync(join(complete, name), 'copied')
  writeFileSync(join(volume, 'first'), 'moved')
  expect(await openSeed(volume)).toBeUndefined()
  expect(readdirSync(volume).toSorted()).toEqual(['first', 'second'])
  expect(readFileSync(join(volume, 'first'), 'utf8')).toBe('moved')
})

test('a folder of the same name in a volume with content, and a link of that name, are left alone', async () => {
  const volume = newVolume()
  mkdirSync(join(volume, '.holdfast-seed'))
  writeFileSync(join(volume, 'data'), '')
  expect(await openSeed(volume)).toBeUndefined()
  expect(readdirSync(volume).toSorted()).toEqual(['.holdfast-seed', 'data'])

  const [linked, elsewhere] = [newVolume(), newVolume()]
  mkdirSync(join(elsewhere, 'complete'))
  writeFileSync(join(elsewhere, 'complete', 'foreign'), '')
  symlinkSync(elsewhere, join(linked, '.holdfast-seed'))
  expect(await openSeed(linked)).toBeUndefined()
  expect([readdirSync(linked), existsSync(join(elsewhere, 'complete', 'foreign'))]).toEqual([
    ['.holdfast-seed'],
    true,
  ])
})
