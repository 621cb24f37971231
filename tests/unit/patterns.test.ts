// Every regular expression of contract, core and server takes less than 5 ms on 100 kB of the worst text that can be
// made from it. They are found in the source, so a new one is covered the day it is written.

import { fileURLToPath } from 'node:url'
import { CREDENTIAL_SHAPES } from '@holdfast/core/credentials/credential-shape-table'
import { findSlowSearch } from '@holdfast/testkit/hostile/adversarial-texts'
import { scanSource } from '@holdfast/testkit/source-tree/scan-source'
import { gatherSources, isTest } from '@holdfast/testkit/source-tree/source-tree'
import { describe, expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Made from parts at run time, so not to be found as a literal; each is judged here or is of a fixed length. */
const MADE: { readonly [path: string]: string } = {
  'packages/contract/src/ids.ts': 'anchored, 30 characters and no choice',
  'packages/core/src/credentials/credential-shapes.ts': 'the shapes side by side, each judged below',
  'packages/core/src/credentials/credential-shape-table.ts': 'judged below',
  'packages/core/src/credentials/printable.ts': 'one character class',
  'packages/server/src/operations/tenants/tokens.ts': 'anchored, one class and a length',
  'packages/server/src/adapters/registry/challenge.ts': 'a copy of a literal, judged as that',
}

/** Slow on a long text, and never given one. */
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

// Each is timed by itself, the best of several tries; all of them together take as long as the machine needs.
describe('regular expressions', { timeout: 120_000 }, () => {
  const written = writtenPatterns()

  test('are found', () => {
    expect(written.length).toBeGreaterThan(60)
  })

  test('that are slow are seen to be', () => {
    expect(slow({ where: 'planted', pattern: /\s+$/ })).toHaveLength(1)
    expect(slow({ where: 'planted', pattern: /a[a-z]*!/ })).toHaveLength(1)
  })

  test('written in the source are quick on the worst text', () => {
    const uncapped = written.filter(({ where }) => CAPPED[where.split(':')[0] ?? ''] === undefined)
    expect(uncapped.flatMap(slow)).toEqual([])
  })

  test('of the credential table are quick on the worst text', () => {
    const shapes = CREDENTIAL_SHAPES.map(({ name, pattern }) => ({ where: name, pattern }))
    expect(shapes.flatMap(slow)).toEqual([])
  })

  test('made at run time are known', () => {
    const made = sources
      .filter(([, source]) => scanSource(source).code.includes('new RegExp('))
      .map(([path]) => path)
    expect(made.sort()).toEqual(Object.keys(MADE).sort())
  })

  test('never ignore case under Unicode rules, which let the Kelvin sign and the long s in', () => {
    const both = written.filter(
      ({ pattern }) => pattern.ignoreCase && (pattern.unicode || pattern.unicodeSets),
    )
    expect(both.map(({ where }) => where)).toEqual([])
  })
})
