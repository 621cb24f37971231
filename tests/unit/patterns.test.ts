// Every regular expression in contract, core and server takes less than 5 ms on 100 kB of the worst text that can be
// generated for it. The test finds the expressions in the source code.

import { fileURLToPath } from 'node:url'
import { CREDENTIAL_SHAPES } from '@holdfast/core/credentials/credential-shape-table'
import { findSlowSearch } from '@holdfast/testkit/hostile/adversarial-texts'
import { scanSource } from '@holdfast/testkit/source-tree/scan-source'
import { gatherSources, isTest } from '@holdfast/testkit/source-tree/source-tree'
import { describe, expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Files with patterns that are built at run time and not found as literals, with the reason why each is fast. */
const BUILT: { readonly [path: string]: string } = {
  'packages/contract/src/ids.ts': 'anchored, 30 characters and no choice',
  'packages/core/src/credentials/credential-shapes.ts': 'the shapes side by side, each judged below',
  'packages/core/src/credentials/credential-shape-table.ts': 'judged below',
  'packages/core/src/credentials/printable.ts': 'one character class',
  'packages/server/src/operations/tenants/tokens.ts': 'anchored, one class and a length',
  'packages/server/src/adapters/registry/challenge.ts': 'a copy of a literal, judged as that',
}

/** Patterns that are slow on a long text but are used only on short texts. */
const CAPPED: { readonly [path: string]: string } = {
  'packages/core/src/admission/normalize/trivial-check.ts':
    'a line of more than 512 characters is not looked at',
}

interface Written {
  readonly where: string
  readonly pattern: RegExp
}

const sources = [...gatherSources(ROOT)].filter(
  ([path]) =>
    /^packages\/(?:contract|core|server)\//.test(path) && !isTest(path) && !path.includes('/corpus'),
)

function writtenPatterns(): Written[] {
  return sources.flatMap(([path, source]) =>
    scanSource(source.replace(/^#!.*/, '')).patterns.map(({ text, line }) => {
      const end = text.lastIndexOf('/')
      return {
        where: `${path}:${line} ${text}`,
        pattern: new RegExp(text.slice(1, end), text.slice(end + 1)),
      }
    }),
  )
}

function slow({ where, pattern }: Written): string[] {
  const found = findSlowSearch(pattern)
  if (found === undefined) return []
  return [`${where}: ${found.ms.toFixed(1)} ms on ${found.length} of ${JSON.stringify(found.begins)}`]
}

// The long timeout covers all patterns on a slow machine, because each pattern is measured several times.
describe('regular expressions', { timeout: 120_000 }, () => {
  const written = writtenPatterns()

  test('are found in the source', () => {
    expect(written.length).toBeGreaterThan(60)
  })

  test('that are slow are detected', () => {
    expect(slow({ where: 'planted', pattern: /\s+$/ })).toHaveLength(1)
    expect(slow({ where: 'planted', pattern: /a[a-z]*!/ })).toHaveLength(1)
  })

  test('in the source are fast on the worst text', () => {
    const uncapped = written.filter(({ where }) => CAPPED[where.split(':')[0] ?? ''] === undefined)
    expect(uncapped.flatMap(slow)).toEqual([])
  })

  test('of the credential table are fast on the worst text', () => {
    const shapes = CREDENTIAL_SHAPES.map(({ name, pattern }) => ({ where: name, pattern }))
    expect(shapes.flatMap(slow)).toEqual([])
  })

  test('that are built at run time are listed', () => {
    const built = sources
      .filter(([, source]) => scanSource(source).code.includes('new RegExp('))
      .map(([path]) => path)
    expect(built.sort()).toEqual(Object.keys(BUILT).sort())
  })

  test('never ignore case under Unicode rules, which would match the Kelvin sign and the long s', () => {
    const both = written.filter(
      ({ pattern }) => pattern.ignoreCase && (pattern.unicode || pattern.unicodeSets),
    )
    expect(both.map(({ where }) => where)).toEqual([])
  })
})
