import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeTempFolder } from '@holdfast/testkit'
import { afterAll, expect, test } from 'vitest'
import { copyBuild, hashSources } from '../../scripts/dashboard/kept-builds.ts'

const folder = makeTempFolder('kept-builds')
afterAll(() => folder.remove())
const at = (name: string) => join(folder.path, name)

test('builds the same sources of the dashboard once, and others again', async () => {
  const built: string[] = []
  const copy = (name: string) =>
    copyBuild(
      at('kept'),
      name,
      async (into) => {
        built.push(name)
        writeFileSync(join(into, 'page'), name)
      },
      at('copy'),
    )
  for (const name of ['one', 'one', 'two', 'one']) await copy(name)
  expect(built).toEqual(['one', 'two'])
  expect(readFileSync(at('copy/page'), 'utf8')).toBe('one')
  for (let count = 0; count < 20; count += 1) await copy(`more ${count}`)
  expect(readdirSync(at('kept'))).toHaveLength(8)
})

test('builds the dashboard once for all who need it at the same time, also after a build was killed', async () => {
  let built = 0
  mkdirSync(at('shared'))
  // No process has this number.
  writeFileSync(at('shared/one.lock'), '4194305')
  const build = async (into: string) => {
    built += 1
    await new Promise((resolve) => setTimeout(resolve, 50))
    writeFileSync(join(into, 'page'), 'one')
  }
  const copies = ['a', 'b', 'c'].map((name) => copyBuild(at('shared'), 'one', build, at(`copy-${name}`)))
  await Promise.all(copies)
  expect(built).toBe(1)
  expect(['a', 'b', 'c'].map((name) => readFileSync(at(`copy-${name}/page`), 'utf8'))).toEqual([
    'one',
    'one',
    'one',
  ])
  expect(readdirSync(at('shared'))).toEqual(['one'])
})

test('keeps nothing of a build of the dashboard that failed', async () => {
  const fail = () => Promise.reject(new Error('no such module'))
  await expect(copyBuild(at('none'), 'one', fail, at('copy'))).rejects.toThrow('no such module')
  expect(readdirSync(at('none'))).toEqual([])
})

test('a change of a source of the dashboard, of a package or of the lock file changes the hash', () => {
  mkdirSync(at('packages/dashboard/src/features'), { recursive: true })
  mkdirSync(at('packages/contract/src'), { recursive: true })
  const files = [
    'packages/dashboard/src/features/page.tsx',
    'packages/contract/src/a.ts',
    'packages/dashboard/vite.config.ts',
    'package-lock.json',
  ]
  const hashes = files.map((file) => {
    writeFileSync(at(file), 'text')
    return hashSources(folder.path)
  })
  expect(new Set(hashes).size).toBe(files.length)
  expect(hashSources(folder.path)).toBe(hashes.at(-1))
})
