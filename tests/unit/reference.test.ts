// The pages in docs/reference are up to date with the code that generates them.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { REFERENCE_PAGES } from '../../scripts/reference/pages.ts'

const FOLDER = join(import.meta.dirname, '../../docs/reference')

test('docs/reference holds exactly the generated pages', () => {
  expect(readdirSync(FOLDER).sort()).toEqual(REFERENCE_PAGES.map(({ file }) => file).sort())
})

test.each(REFERENCE_PAGES)(
  'docs/reference/$file is up to date; `node scripts/reference.ts` writes it',
  ({ file, render }) => {
    expect(readFileSync(join(FOLDER, file), 'utf8')).toBe(render())
  },
)
