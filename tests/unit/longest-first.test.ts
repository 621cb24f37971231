import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LONGEST, longestFirst } from '../longest-first.ts'

const ROOT = join(import.meta.dirname, '../..')

test('the test files that start first exist', () => {
  expect(LONGEST.filter((file) => !existsSync(join(ROOT, file)))).toEqual([])
})

test('starts the longest test files first, each within its project', () => {
  const [lab, unit] = [{}, {}]
  const inOrder = longestFirst('/repository', [
    { project: unit, moduleId: '/repository/a.test.ts' },
    { project: lab, moduleId: '/repository/e2e/cli.test.ts' },
    { project: lab, moduleId: '/repository/e2e/jobs.test.ts' },
    { project: lab, moduleId: '/repository/e2e/scaling.test.ts' },
    { project: lab, moduleId: '/repository/e2e/promotion.test.ts' },
  ])
  expect(inOrder.map(({ moduleId }) => moduleId.replace('/repository/', ''))).toEqual([
    'a.test.ts',
    'e2e/promotion.test.ts',
    'e2e/scaling.test.ts',
    'e2e/cli.test.ts',
    'e2e/jobs.test.ts',
  ])
})
