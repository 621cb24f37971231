// The search of the reference finds what readers type, and its function needs nothing outside itself.

import { DEFAULT_LIMITS, describeManifest } from '@holdfast/core'
import { describe, expect, test } from 'vitest'
import { codeEntries } from './code-pages.ts'
import { manifestEntries } from './manifest-page.ts'
import { type SearchEntry, searchEntries, withOtherWords } from './search.ts'

const ENTRIES = [
  ...manifestEntries(describeManifest()),
  ...codeEntries({ endpoints: [], limits: DEFAULT_LIMITS }),
].map(withOtherWords)

const namesFor = (query: string, shown = 12): string[] =>
  searchEntries(ENTRIES, query)
    .slice(0, shown)
    .map(({ name }) => name)

describe('the first results contain', () => {
  test.each([
    ['password', 'secrets'],
    ['password', 'composedEnvironment'],
    ['password', 'plaintext_credential_in_environment'],
    ['half a cpu', 'resources.cpuMillis'],
    ['same machine', 'placement.antiAffinity'],
    ['same machine', 'placement.affinity'],
  ])('for %s: %s', (query, name) => expect(namesFor(query)).toContain(name))
})

test('the entry of that name is first, and an unknown word finds nothing', () => {
  expect(namesFor('replicas', 1)).toEqual(['replicas'])
  expect(namesFor('qqqqqq')).toEqual([])
})

test('without an entry that has every word, the entry with the most words is first', () => {
  const entry = (name: string, text: string): SearchEntry => ({ name, kind: 'Field', text, href: '' })
  const entries = [entry('one', 'red'), entry('two', 'red green'), entry('three', 'a')]
  expect(searchEntries(entries, 'a red green blue').map(({ name }) => name)).toEqual(['two', 'one'])
})

test('the browser can run the source of the function', () => {
  const names = new Function(
    'entries',
    'query',
    `${searchEntries.toString()}; return searchEntries(entries, query)`,
  )
  expect(names(ENTRIES, 'half a cpu')).toEqual(searchEntries(ENTRIES, 'half a cpu'))
})
