// Which of these tests have the same subject as a change? A test that starts the whole product reaches every file of it, so
// imports cannot tell. Words can: the route of jobs and the test of jobs share words that few other files have.

import { posix } from 'node:path'

/** How much more a word in a file's first comment says than a word in its text. */
const TITLE_WEIGHT = 4
/** The score of two files with the same name. */
const NAME_WEIGHT = 20
const FIRST_COMMENT = /^(?:\/\/.*\n)+/
const WORD = /[A-Z]?[a-z]{2,}|[A-Z]{2,}/g

type Words = ReadonlySet<string>
type Rarity = (word: string) => number

interface Described {
  readonly name: Words
  readonly title: Words
  readonly text: Words
}

/** Sorts paths by the rare words that they share with the changed files, most first. */
export function rankByWords(
  sources: ReadonlyMap<string, string>,
  paths: readonly string[],
  changed: readonly string[],
): string[] {
  const candidates = paths.map((path) => ({ path, words: describe(path, sources.get(path) ?? '') }))
  const rarity = rarityOf(candidates.map(({ words }) => words.text))
  const subjects = changed.map((path) => describe(path, sources.get(path) ?? ''))
  return candidates
    .map(({ path, words }) => ({
      path,
      score: Math.max(0, ...subjects.map((subject) => similarity(subject, words, rarity))),
    }))
    .toSorted((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1))
    .map(({ path }) => path)
}

function describe(path: string, text: string): Described {
  const name = wordsIn(posix.basename(path).replace(/\..*/, ''))
  return {
    name,
    title: new Set([...name, ...wordsIn(FIRST_COMMENT.exec(text)?.[0] ?? '')]),
    text: wordsIn(text),
  }
}

/** Words in lower case and singular: `volumePromotions` has the words of `volume-promotion`. */
const wordsIn = (text: string): Set<string> =>
  new Set((text.match(WORD) ?? []).map((word) => word.toLowerCase().replace(/s$/, '')))

/** A word that every file has says nothing. */
function rarityOf(files: readonly Words[]): Rarity {
  const counts = new Map<string, number>()
  for (const words of files) for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return (word) => Math.log((files.length + 1) / ((counts.get(word) ?? 0) + 1)) ** 2
}

function similarity(subject: Described, test: Described, rarity: Rarity): number {
  const weigh = (words: Words): number => [...words].reduce((sum, word) => sum + rarity(word), 0)
  const both = (a: Words, b: Words): Words => new Set([...a].filter((word) => b.has(word)))
  // A long text shares words with everything, so what is shared is compared with the whole.
  const shared = (a: Words, b: Words): number => weigh(both(a, b)) / Math.sqrt(1 + weigh(b))
  const names = both(subject.name, test.name).size / new Set([...subject.name, ...test.name]).size
  return (
    NAME_WEIGHT * (names || 0) +
    TITLE_WEIGHT * shared(subject.title, test.title) +
    shared(subject.text, test.text)
  )
}
