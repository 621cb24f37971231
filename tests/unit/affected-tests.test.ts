// Which tests `npm run affected` and `.ci/run --since` choose for a change, and in which order.

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Affected, affectedTests, type Repository } from '../../scripts/ci/affected-tests.ts'
import { changedSince, readRepository } from '../../scripts/ci/read-change.ts'
import { needsPackagingWalk } from '../../scripts/ci/suite-table.ts'
import { waitFor } from '../../scripts/ci/verdict-seconds.ts'

const ROOT = join(import.meta.dirname, '../..')
const SOURCES = new Map([
  ['packages/core/src/a.ts', ''],
  ['packages/core/src/b.ts', `import { a } from './a.ts'`],
  ['packages/core/src/b.test.ts', `import { b } from './b.ts'`],
  ['packages/core/src/a.test.ts', `import { a } from './a.ts'`],
  ['packages/core/src/c.test.ts', `import type { A } from './a.ts'`],
  ['packages/server/src/start.ts', `import { b } from '@holdfast/core/b'`],
  ['tests/real/process.test.ts', `const MAIN = join(ROOT, 'packages/server/src/start.ts')`],
  ['tests/unit/documents.test.ts', ''],
  ['tests/unit/units.test.ts', `const UNIT = 'some-unit.service'`],
])
const TREE: Repository = {
  sources: SOURCES,
  files: [...SOURCES.keys(), 'packages/agent/some-unit.service', 'README.md'],
}
/** A change and a test that it runs. As one text, because a path in quotes would make this file a test of the path. */
const EXPECTED = `
packages/dashboard/src/theme/base.css -> tests/real/dashboard/dashboard.test.ts
packages/dashboard/src/api/resources/use-jobs.ts -> tests/real/dashboard/resources.test.ts
packages/agent/holdfast-agent.service -> tests/unit/service-units.test.ts
packages/agent/holdfast-agent.service -> tests/unit/packages/contents.test.ts
packages/agent/src/streams/kept-logs.ts -> packages/agent/src/streams/streams.real.test.ts
packages/server/src/loops/controllers/place-deployments.ts -> tests/controllers/rollouts.test.ts
packages/cli/src/main.ts -> tests/real/cli/core.test.ts
packages/manifest/fixtures/compose/02-blog.yaml -> packages/manifest/src/compose/compose.test.ts
tests/golden/order.golden.json -> tests/real/api/order.test.ts
.ci/base-version -> e2e/two-builds.test.ts
`
  .trim()
  .split('\n')
  .map((line) => line.split(' -> '))
const ROUTE = ['packages/server/src/api/routes', 'jobs.ts'].join('/')
const pathsOf = (found: readonly Affected[], tier?: Affected['tier']): string[] =>
  found.filter((each) => tier === undefined || each.tier === tier).map(({ path }) => path)

describe('in a small repository', () => {
  test('a change affects the tests that import it, the nearest first, and those that start it as a program', () => {
    const found = affectedTests(TREE, ['packages/core/src/a.ts'])
    expect(pathsOf(found, 'near')).toEqual(['packages/core/src/a.test.ts', 'packages/core/src/b.test.ts'])
    expect(pathsOf(found, 'engines')).toEqual(['tests/real/process.test.ts'])
    expect(pathsOf(found, 'far')).toEqual(['tests/unit/documents.test.ts', 'tests/unit/units.test.ts'])
  })

  test('an import of types alone is no dependency', () =>
    expect(pathsOf(affectedTests(TREE, ['packages/core/src/a.ts']))).not.toContain(
      'packages/core/src/c.test.ts',
    ))

  test('a changed test file affects itself', () =>
    expect(pathsOf(affectedTests(TREE, ['packages/core/src/c.test.ts']))).toContain(
      'packages/core/src/c.test.ts',
    ))

  test('a document affects only the rules of the repository', () =>
    expect(pathsOf(affectedTests(TREE, ['README.md']))).toEqual([
      'tests/unit/documents.test.ts',
      'tests/unit/units.test.ts',
    ]))

  test('a test that names an asset runs with the nearest tests of its change', () =>
    expect(pathsOf(affectedTests(TREE, ['packages/agent/some-unit.service']), 'near')).toEqual([
      'tests/unit/units.test.ts',
    ]))

  test.each(['package-lock.json', 'vitest.config.ts', '.ci/steps.sh'])(
    'a change to %s affects every test',
    (path) => {
      const tests = [...SOURCES.keys()].filter((each) => each.endsWith('.test.ts'))
      expect(pathsOf(affectedTests(TREE, [path])).toSorted()).toEqual(tests.toSorted())
    },
  )

  test('a test of an engine that only has another subject is left out, unless all are wanted', () => {
    const others = Array.from({ length: 30 }, (_, n): [string, string] => [
      `e2e/lab-${n}.test.ts`,
      `// Volumes.\nconst MAIN = join(ROOT, 'packages/server/src/start.ts')`,
    ])
    const sources = new Map([
      ...SOURCES,
      ['packages/server/src/start.ts', `// Jobs and their attempts.\nimport { b } from '@holdfast/core/b'`],
      ...others,
      [
        'e2e/jobs.test.ts',
        `// Jobs and their attempts.\nconst MAIN = join(ROOT, 'packages/server/src/start.ts')`,
      ],
    ])
    const change = ['packages/core/src/b.ts', 'packages/server/src/start.ts']
    const chosen = pathsOf(affectedTests({ ...TREE, sources }, change), 'labs')
    expect(chosen).toHaveLength(3)
    expect(chosen[0]).toBe('e2e/jobs.test.ts')
    expect(pathsOf(affectedTests({ ...TREE, sources }, change, { all: true }), 'labs')).toHaveLength(31)
  })
})

describe('in this repository', () => {
  const repository = readRepository(ROOT)
  const chosenFor = (path: string, tier?: Affected['tier']) => {
    expect(repository.files).toContain(path)
    return pathsOf(affectedTests(repository, [path]), tier)
  }

  test('a route runs the tests of its subject and three labs', () => {
    expect(chosenFor(ROUTE, 'engines')).toEqual(
      expect.arrayContaining(['tests/real/api/jobs.test.ts', 'tests/real/cli/jobs.test.ts']),
    )
    expect(chosenFor(ROUTE, 'labs')).toHaveLength(3)
    expect(chosenFor(ROUTE, 'labs')).toContain('e2e/jobs.test.ts')
  })

  test.each(EXPECTED)('a change of %s runs %s', (path = '', expected) =>
    expect(chosenFor(path)).toContain(expected),
  )

  test('every row of the table of suites has files and tests', async () => {
    const { SUITES } = await import('../../scripts/ci/suite-table.ts')
    for (const { changed, tests, why } of SUITES) {
      expect(
        repository.files.filter((path) => changed.test(path)),
        why,
      ).not.toEqual([])
      expect(
        [...repository.sources.keys()].filter((path) => tests.test(path)),
        why,
      ).not.toEqual([])
    }
  })

  test('git tells what has changed', () => {
    const head = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).trim()
    expect(changedSince(ROOT, head)).toEqual(changedSince(ROOT, 'HEAD'))
  })
})

test.each([
  ['scripts/package/units.ts', true],
  ['docs/guides/configuration.md', true],
  ['packages/core/src/index.ts', false],
])('whether the packaging walk notices a change of %s: %s', (path, expected) =>
  expect(needsPackagingWalk([path])).toBe(expected),
)

test('the wait is that of the slowest area of the change', () => {
  expect(waitFor(['packages/core/src/a.ts']).seconds).toBe(30)
  expect(waitFor(['packages/core/src/a.ts', 'packages/server/src/b.ts']).seconds).toBe(60)
  expect(waitFor(['packages/dashboard/src/a.tsx', 'packages/agent/src/b.ts']).seconds).toBe(120)
})
