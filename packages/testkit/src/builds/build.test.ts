import { existsSync, lstatSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { editedBuild, ROOT, readBaseVersion } from './build.ts'
import { extractPackages } from './copy-packages.ts'
import { ADDED_MEMBERS, NEW_RECORD_FORM } from './newer-versions.ts'

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

test.each([
  ['one more member in every object', ADDED_MEMBERS],
  ['a new form of records', NEW_RECORD_FORM],
] as const)('the edits of the test build with %s still apply to the source', (name, edits) => {
  editedBuild(name, edits).remove()
})

test('an edit whose text is not in the source fails', () => {
  const edit = { file: 'packages/contract/src/version.ts', find: 'no such text', replace: '' }
  expect(() => editedBuild('edited', [edit])).toThrow('0 times instead of once')
})
