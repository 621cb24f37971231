// Long texts that make a careless regular expression backtrack. The texts are derived from the expression, so that many
// parts of them almost match it.

import { cpuMsOf } from '../cpu-time.ts'

const COMMON = ['a', 'A', '0', ' ', '-', '_', '.', '/', ':', '@', '"', '=', '\\', '\u00e9', '\n']

/** Generates adversarial texts of about the given length for the expression. */
function* adversarialTexts(pattern: RegExp, length: number): Generator<string> {
  const words = literalsOf(pattern.source)
  const units = [
    ...new Set([...COMMON, ...words, ...words.map((word) => `${word}a`), ...words.map((word) => ` ${word}`)]),
  ]
  const fill = (unit: string) => unit.repeat(Math.ceil(length / unit.length))
  for (const unit of units) {
    yield fill(unit)
    yield `${fill(unit)}\u0001`
  }
  // Each text begins with a matching literal, repeats one character, and ends with a character that does not match.
  for (const word of words)
    for (const unit of ['a', ' ', '0', '-', '.', '=']) yield `${word}${fill(unit)}\u0001`
  for (const [at, word] of words.slice(0, 12).entries()) yield fill(`${word}${words[at + 1] ?? '0'}`)
}

export interface SlowSearch {
  readonly ms: number
  readonly length: number
  readonly begins: string
}

/**
 * Lengths of the tested texts, with time limits. Short texts are first, because a quadratic search is already slow on
 * them and takes minutes on long texts.
 */
const STAGES: readonly (readonly [length: number, limitMs: number])[] = [
  [4_000, 3],
  [100_000, 5],
]

/** The first adversarial text on which the expression's search takes too long. */
export function findSlowSearch(pattern: RegExp): SlowSearch | undefined {
  for (const [length, limitMs] of STAGES) {
    for (const text of adversarialTexts(pattern, length)) {
      const ms = searchMs(pattern, text, limitMs)
      if (ms > limitMs) return { ms, length, begins: text.slice(0, 40) }
    }
  }
  return undefined
}

/** Literal parts of a regular expression, and single characters of its character classes. */
function literalsOf(source: string): string[] {
  const plain = source.replaceAll(/\\([dws])/gi, ' ').replaceAll(/\\(.)/g, '$1')
  const words = plain.match(/[A-Za-z0-9_]{2,24}|[^\sA-Za-z0-9_]/g) ?? []
  return [...new Set(words)].slice(0, 40)
}

/** Processor time of the fastest of several searches in milliseconds, because some include a garbage collection. */
function searchMs(pattern: RegExp, text: string, enoughMs: number): number {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < 25 && best > enoughMs; round += 1) {
    pattern.lastIndex = 0
    best = Math.min(
      best,
      cpuMsOf(() => pattern.test(text)),
    )
  }
  return best
}
