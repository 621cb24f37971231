// Comments, texts, names and documents use plain English. The phrases and old names that are rejected are listed in
// tests/unit/texts/dialect.ts, with what to write instead.
//
// Print the violations of a folder:  node tests/unit/texts/dialect.ts packages/agent
// Check one folder as a test:        DIALECT_PATH=packages/agent npx vitest run --project unit tests/unit/plain-english.test.ts

import { env } from 'node:process'
import { describe, expect, test } from 'vitest'
import { checkFolder, type DialectFound, findDialect, NOT_CHECKED, showDialect } from './texts/dialect.ts'
import { repositoryFiles } from './texts/repository-files.ts'

/** Accepted exceptions, at most 30: `path: phrase`, with the reason why the phrase is right in that file. */
const ALLOWED: { readonly [pathAndPhrase: string]: string } = {}

const isAllowed = ({ path, found }: DialectFound): boolean => Object.hasOwn(ALLOWED, `${path}: ${found}`)

/** Reading the whole tree takes some seconds, and much longer beside other suites. */
const WHOLE_TREE_MS = 120_000

describe('plain English', () => {
  test('is used in comments, texts, names and documents', { timeout: WHOLE_TREE_MS }, () => {
    const folder = env.DIALECT_PATH
    const found =
      folder === undefined
        ? [...repositoryFiles()]
            .filter(([path]) => !NOT_CHECKED.includes(path))
            .flatMap(([path, content]) => findDialect(path, content))
        : checkFolder(folder)
    expect(found.filter((each) => !isAllowed(each)).map(showDialect)).toEqual([])
  })

  test('has at most 30 exceptions, each with a reason', () => {
    expect(Object.keys(ALLOWED).length).toBeLessThanOrEqual(30)
    expect(Object.values(ALLOWED).filter((reason) => reason.length < 20)).toEqual([])
  })

  test.each([
    ['a comment that opens with a clause', '// What runs stays.\n', 'begin with the subject'],
    ['a phrase over two lines of a comment', '// It is not there any\n// more.\n', 'no longer'],
    ['a text', "fail('nobody can be asked')\n", 'no client'],
    ['a name', 'const toldPhase = 1\n', 'a name with the usual word'],
    ['an old name', 'makeWay()\n', 'the new name'],
    ['a key', "const key = 'wished-deployment'\n", 'a name with the usual word'],
  ])('%s is found', (_, source, instead) => {
    expect(findDialect('packages/core/src/x.ts', source).map((each) => each.instead)).toEqual([
      expect.stringContaining(instead),
    ])
  })

  test('questions and headings may begin with What', () => {
    expect(
      findDialect('packages/core/src/x.ts', '// What is free on a node? Capacity less requests.\n'),
    ).toEqual([])
    expect(findDialect('x.md', '## What is promised\n\n| What | Where |\n')).toEqual([])
  })
})
