// Citations in code, tests and documents resolve inside the repository: the cited document and its heading exist. No file
// refers to a document outside of the repository.

import { dirname, posix } from 'node:path'
import { scanSource } from '@holdfast/testkit/source-tree/scan-source'
import { describe, expect, test } from 'vitest'
import { repositoryFiles } from './texts/repository-files.ts'

const FILES = repositoryFiles()
const SELF = 'tests/unit/citations.test.ts'

const OUTSIDE =
  'SPEC|DECISIONS|SAFETY|DESIGN|PARTS|PERFORMANCE|STYLE|LIBRARIES|ENGLISH|OPERATIONS|DASHBOARD|PEERS'
/** Names of documents outside the repository: NUMBERED matches them with `.md`, a possessive or a section, BARE alone. */
const NUMBERED = new RegExp(String.raw`\b(?:${OUTSIDE})(?:\.md\b|['’]s\b| (?:\d|row\b))`, 'g')
const BARE = new RegExp(String.raw`(?<![\w.\`/-])(?:${OUTSIDE})(?![\w.\`/=-])`, 'g')

/** The anchor that GitHub generates for a heading. */
const slugOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[`*_]|\[|\]\([^)]*\)|\]/g, '')
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

const withoutBlocks = (text: string): string => text.replace(/^```[\s\S]*?^```/gm, '')
const anchorsOf = (text: string): Set<string> =>
  new Set([...withoutBlocks(text).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => slugOf(heading)))

function resolves(path: string, anchor: string | undefined): boolean {
  const text = FILES.get(path)
  if (text === undefined) return false
  return anchor === undefined || anchorsOf(text).has(anchor)
}

/** Citations such as `docs/design/store.md#keys` in code and documents. */
const CITED = /(?<![\w./-])(docs\/[\w./-]*?\.md)(?:#([\w-]+))?/g
/** Markdown links to another document, relative to the document that contains the link. */
const LINKED = /\]\(([^)#:\s]*)(?:#([\w-]+))?\)/g

function brokenCitations(path: string, text: string): string[] {
  const cited = [...text.matchAll(CITED)].filter(([, file = '', anchor]) => !resolves(file, anchor))
  const linked = path.endsWith('.md') ? [...withoutBlocks(text).matchAll(LINKED)] : []
  const broken = linked.filter(([, file = '', anchor]) => {
    const target = file === '' ? path : posix.join(dirname(path), file)
    return (target.endsWith('.md') || file === '') && !resolves(target, anchor)
  })
  return [...cited, ...broken].map(([whole]) => `${path}: ${whole}`)
}

function outsideCitations(path: string, text: string): string[] {
  const read = path.endsWith('.ts')
    ? scanSource(text)
        .comments.map((each) => each.text)
        .join('\n')
    : text
  const found = [...text.matchAll(NUMBERED), ...(/\.(?:ts|md)$/.test(path) ? read.matchAll(BARE) : [])]
  return found.map(([whole]) => `${path}: ${whole}`)
}

const CHECKED = [...FILES].filter(([path]) => path !== SELF)

describe('citations', () => {
  test('name documents and headings that exist', () => {
    expect(CHECKED.flatMap(([path, text]) => brokenCitations(path, text))).toEqual([])
  })

  test('refer to no document outside of the repository', () => {
    const found = CHECKED.flatMap(([path, text]) => outsideCitations(path, text))
    expect(found).toEqual([])
  })

  test('a heading, an anchor and a document that are missing are found', () => {
    expect(brokenCitations('x.ts', '// docs/design/store.md#keys')).toEqual([])
    expect(
      brokenCitations('x.ts', '// docs/design/store.md#no-such-heading, docs/design/gone.md'),
    ).toHaveLength(2)
    expect(brokenCitations('docs/design/api.md', '[a](store.md#keys) [b](gone.md) [c](#gone)')).toHaveLength(
      2,
    )
    expect(outsideCitations('x.ts', '// As in SAFETY 4a, and SPEC.md')).toHaveLength(3)
  })
})

describe('docs/design', () => {
  const designs = CHECKED.filter(([path]) => path.startsWith('docs/design/'))

  test('has a document for each part of the design', () => expect(designs.length).toBeGreaterThanOrEqual(15))

  test.each(designs)('%s is short enough to be read at once', (_, text) => {
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(12 * 1024)
  })
})
