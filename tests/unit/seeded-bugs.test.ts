import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROMOTION_BUGS } from '@holdfast/simulation/promotion/promotion-bugs.fixture'
import { expect, test } from 'vitest'
import { BUGS } from '../../scripts/seeded-bugs/bugs.ts'
import { TESTED_BUGS } from '../../scripts/seeded-bugs/tested/tested-bugs.ts'

const ROOT = join(import.meta.dirname, '../..')

test.each([...BUGS, ...TESTED_BUGS, ...PROMOTION_BUGS].map(({ name, edits }) => [name, edits] as const))(
  'the seeded bug %s still applies to the source',
  (_, edits) => {
    for (const { file, find } of edits) {
      const parts = readFileSync(join(ROOT, file), 'utf8').split(find)
      expect([file, find, parts.length - 1]).toEqual([file, find, 1])
    }
  },
)

test('every seeded bug has a name of its own', () => {
  const names = [...BUGS, ...TESTED_BUGS].map(({ name }) => name)
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([])
})
