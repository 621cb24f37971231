import { expect, test } from 'vitest'
import { affectedTests } from '../../scripts/ci/affected-tests.ts'

const TREE = new Map([
  ['packages/core/src/a.ts', ''],
  ['packages/core/src/b.ts', `import { a } from './a.ts'`],
  ['packages/core/src/b.test.ts', `import { b } from './b.ts'`],
  ['packages/core/src/c.test.ts', ''],
  ['packages/server/src/main.ts', `import { b } from '@holdfast/core/b'`],
  ['tests/real/process.test.ts', `const MAIN = join(ROOT, 'packages/server/src/main.ts')`],
  ['tests/unit/documents.test.ts', ''],
])

test('a change affects the tests that import it, directly or not, and those that start it as a program', () => {
  expect(affectedTests(TREE, ['packages/core/src/a.ts'])).toEqual([
    'packages/core/src/b.test.ts',
    'tests/real/process.test.ts',
    'tests/unit/documents.test.ts',
  ])
})

test('a changed test file affects itself', () => {
  expect(affectedTests(TREE, ['packages/core/src/c.test.ts'])).toContain('packages/core/src/c.test.ts')
})

test('a document affects only the tests of documents', () => {
  expect(affectedTests(TREE, ['README.md'])).toEqual(['tests/unit/documents.test.ts'])
})

test.each(['package-lock.json', 'vitest.config.ts', 'engines/etcd/go.mod', '.ci/steps.sh'])(
  'a change to %s affects every test',
  (path) => {
    expect(affectedTests(TREE, [path])).toHaveLength(4)
  },
)
