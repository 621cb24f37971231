import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { makeTempFolder } from '../temp-folder.ts'
import { buildHas, PROGRAMS, type ProgramName, programIn, ROOT, testedBuild } from './programs.ts'

const NAMES = Object.keys(PROGRAMS) as ProgramName[]
const folder = makeTempFolder('programs')
const bundles = join(folder.path, 'bundles')
const write = (path: string): void => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, '')
}
for (const name of NAMES) write(join(bundles, PROGRAMS[name].bundles))
afterAll(() => folder.remove())

test('tests run this tree unless a variable names a folder of programs', () => {
  expect(testedBuild(undefined)).toBe(ROOT)
  expect(testedBuild('')).toBe(ROOT)
  expect(testedBuild('/programs')).toBe('/programs')
  expect(testedBuild('dist/bundles')).toBe(join(ROOT, 'dist/bundles'))
})

test.each(NAMES)('finds the %s in this tree and in a folder of bundles', (name) => {
  expect(existsSync(programIn(ROOT, name).main)).toBe(true)
  expect(programIn(bundles, name)).toEqual({
    node: join(ROOT, 'node_modules/.bin/node'),
    main: join(bundles, PROGRAMS[name].bundles),
    env: { HOLDFAST_PROGRAMS: undefined },
  })
})

test('runs a program of unpacked packages from its installed path, with the Node of its package', () => {
  const unpacked = join(folder.path, 'unpacked')
  const main = join(unpacked, 'usr/lib', PROGRAMS.fencer.bundles)
  const node = join(unpacked, 'usr/lib/holdfast-agent/node')
  for (const file of [main, node]) write(file)
  expect(programIn(testedBuild(unpacked), 'fencer')).toMatchObject({ main, node })
})

test('a copy of the sources has a compile cache of its own', () => {
  const copy = join(folder.path, 'copy')
  write(join(copy, PROGRAMS.agent.sources))
  expect(programIn(copy, 'agent').env).toMatchObject({ NODE_COMPILE_CACHE: join(copy, 'compile-cache') })
})

test.each(NAMES)('does not take the %s of this tree for a missing one', (name) => {
  for (const missing of [join(folder.path, 'nowhere'), join(bundles, 'holdfast-server')])
    expect(() => programIn(missing, name)).toThrow(`There is no ${name} at ${missing}`)
})

test('bundles have the features of this tree; sources have those whose files they have', () => {
  const copy = join(folder.path, 'older')
  write(join(copy, PROGRAMS.agent.sources))
  const feature = 'packages/agent/src/fencer/keep-deadlines.ts'
  expect([buildHas(ROOT, feature), buildHas(bundles, feature), buildHas(copy, feature)]).toEqual([
    true,
    true,
    false,
  ])
})
