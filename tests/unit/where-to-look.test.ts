// Documents match the repository: every path that they name exists, every link resolves, and every invariant cites an
// existing test.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const documentsIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`)

const DOCUMENTS = [
  ...['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md'],
  ...['docs/invariants.md', 'docs/dependencies.md', 'docs/nomenclature.md', 'docs/where-to-look.md'],
  ...documentsIn('docs/checklists'),
  ...documentsIn('docs/adr'),
  ...documentsIn('docs/design'),
]

/** Folders to which paths in documents may be relative, besides the document's own folder: the root of the repository. */
const BASES = ['']
/** Matches a path with at least one folder, such as `docs/design/store.md`, in prose or code. */
const PATH =
  /(?<![\w./@<{$-])(?:(?:packages|tests|scripts|docs|bench|engines|\.ci|\.changeset)(?:\/[\w.-]+)+|[\w-]+(?:\/[\w.-]+)*\/[\w.-]+\.(?:ts|md|json))/g

function pathsIn(text: string): string[] {
  return [...text.matchAll(PATH)]
    .map(([path]) => path.replace(/[.-]+$/, ''))
    .filter((path) => !isOfPlatform(path))
}

/** True for files in `.dev`, which exist only while the local platform runs. */
const isOfPlatform = (path: string): boolean => path.startsWith('.dev/') || path.startsWith('dev/')

const missingIn = (document: string): string[] =>
  pathsIn(read(document)).filter((path) => !exists(path, [...BASES, dirname(document)]))

const exists = (path: string, bases: readonly string[] = BASES): boolean =>
  bases.some((base) => existsSync(join(ROOT, base, path)))

function deadLinks(document: string): string[] {
  const targets = [...read(document).matchAll(/\]\(([^)#:]+)\)/g)].map(([, target = '']) => target)
  return targets.filter((target) => !existsSync(join(ROOT, dirname(document), target)))
}

describe.each(DOCUMENTS)('%s', (document) => {
  test('names only paths that exist', () => {
    expect(missingIn(document)).toEqual([])
  })
  test('has no dead link', () => expect(deadLinks(document)).toEqual([]))
})

test('the table of docs/where-to-look.md is read, and a missing path is found', () => {
  expect(pathsIn(read('docs/where-to-look.md')).length).toBeGreaterThan(100)
  expect(
    pathsIn('see `packages/core/src/gone.ts` and store/gone.ts.').filter((path) => !exists(path)),
  ).toEqual(['packages/core/src/gone.ts', 'store/gone.ts'])
})

/** The documents whose list items are promises, each with its test. */
const PROMISES = ['docs/invariants.md', 'docs/design/threats.md']

describe.each(PROMISES)('the promises of %s', (document) => {
  const cited = [...read(document).matchAll(/`([\w./-]+\.test\.ts)::([^`]+)`/g)]

  test('each cite a test', () => {
    const lines = read(document)
      .split('\n')
      .filter((line) => line.startsWith('- '))
    expect(lines.filter((line) => !line.includes('.test.ts::'))).toEqual([])
    expect(cited.length).toBeGreaterThan(20)
  })

  test.each(cited.map(([, file = '', name = '']) => [file, name] as const))('%s: %s', (file, name) => {
    const titles = [...read(file).matchAll(/(?:test|\bit|describe)\S*?\(\s*(['"`])(.*?)\1/g)].map(
      ([, , title]) => title,
    )
    expect(titles).toContain(name)
  })
})

describe('short documents', () => {
  test('ARCHITECTURE.md is one page of at most 12 KB', () =>
    expect(Buffer.byteLength(read('ARCHITECTURE.md'))).toBeLessThanOrEqual(12 * 1024))

  test('docs/nomenclature.md has at most 60 words', () => {
    const rows = read('docs/nomenclature.md').match(/^\| (?!Word \|)/gm) ?? []
    expect(rows.length).toBeLessThanOrEqual(60)
  })
})
