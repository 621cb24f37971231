import { existsSync, lstatSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeTempFolder } from '../temp-folder.ts'
import { readBaseVersion } from './build.ts'
import { applyEdit, extractPackages } from './copy-packages.ts'
import { ADDED_MEMBERS, NEXT_RELEASE } from './newer-versions.ts'
import { ROOT } from './programs.ts'

const HASH = '0123456789abcdef0123456789abcdef01234567'

test('reads the commit of a base version and ignores comments', () => {
  expect(readBaseVersion(`# why\n${HASH}\n`)).toBe(HASH)
})

test.each(['', '# only a comment\n', `${HASH}\n${HASH}\n`, 'main\n', HASH.slice(0, 8)])(
  'rejects the base version %j',
  (text) => {
    expect(() => readBaseVersion(text)).toThrow('one commit hash')
  },
)

test('a build of a commit imports its own packages and the dependencies of this tree', () => {
  const build = extractPackages(ROOT, 'HEAD')
  const linked = join(build.folder, 'node_modules/@holdfast/server')
  expect(realpathSync(linked)).toBe(realpathSync(join(build.folder, 'packages/server')))
  expect(lstatSync(join(build.folder, 'node_modules/ws')).isSymbolicLink()).toBe(true)
  build.remove()
  expect(existsSync(build.folder)).toBe(false)
})

test.each([...ADDED_MEMBERS, ...NEXT_RELEASE].map((edit) => [edit.file, edit] as const))(
  'an edit of a test build still applies to %s',
  (file, { find }) => {
    expect(readFileSync(join(ROOT, file), 'utf8').split(find).length - 1, find).toBe(1)
  },
)

test('an edit whose text is not in the source once fails', () => {
  const { path, remove } = makeTempFolder('edit')
  writeFileSync(join(path, 'a.ts'), 'one two two')
  applyEdit(path, { file: 'a.ts', find: 'one', replace: 'three' })
  expect(readFileSync(join(path, 'a.ts'), 'utf8')).toBe('three two two')
  const edit = (find: string) => () => applyEdit(path, { file: 'a.ts', find, replace: '' })
  expect(edit('one')).toThrow('0 times instead of once')
  expect(edit('two')).toThrow('2 times instead of once')
  remove()
})
