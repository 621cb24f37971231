// Decides whether all components that ship have an allowed licence. A licence that is not listed fails the build.

import { PUBLIC_DOMAIN } from './reviewed-licences.ts'
import { purlOf, type Shipped } from './shipped.ts'

/** Licences that allow distribution in binary form with a notice, and ask nothing of the code around them. */
const ALLOWED: ReadonlySet<string> = new Set([
  ...['0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BSL-1.0', 'CC0-1.0', 'ISC'],
  // The MPL asks for the sources of its own files alone; they are public, and the SBOM names their versions.
  ...['MIT', 'MIT-0', 'MPL-2.0', 'Unlicense', 'UPL-1.0', 'Zlib', PUBLIC_DOMAIN],
])

/**
 * Licences of Debian's libraries in the image. They ship unchanged, as files of their own that an operator can replace, and
 * Debian publishes their sources under the versions that the bill of materials names.
 */
const ALLOWED_OF_DEBIAN: ReadonlySet<string> = new Set([
  ...ALLOWED,
  ...['GPL-2.0-or-later', 'GPL-3.0-or-later WITH GCC-exception-3.1', 'LGPL-2.1-or-later'],
])

/** One sentence for each component that must not ship. */
export const licenceFaults = (shipped: readonly Shipped[]): string[] => shipped.flatMap(faultsOf)

function faultsOf(each: Shipped): string[] {
  const { licence } = each
  if (licence === undefined) return [`${purlOf(each)} has no known licence.`]
  if (!isAllowed(licence, each.ecosystem === 'deb' ? ALLOWED_OF_DEBIAN : ALLOWED))
    return [`${purlOf(each)} has the licence ${licence}, which is not in the allow-list.`]
  return []
}

/** Reads an SPDX expression of identifiers, AND, OR and brackets. OR is a choice; everything unknown is not allowed. */
export function isAllowed(expression: string, allowing: ReadonlySet<string> = ALLOWED): boolean {
  // A licence with an exception is one word.
  const words = expression.match(/[()]|[^\s()]+(?: WITH [^\s()]+)?/g) ?? []
  const reader = { words, at: 0, allowing }
  const allowed = readChoice(reader)
  return allowed && reader.at === words.length
}

interface Reader {
  readonly words: readonly string[]
  readonly allowing: ReadonlySet<string>
  at: number
}

function readChoice(reader: Reader): boolean {
  let allowed = readAll(reader)
  while (reader.words[reader.at] === 'OR') {
    reader.at += 1
    allowed = readAll(reader) || allowed
  }
  return allowed
}

function readAll(reader: Reader): boolean {
  let allowed = readOne(reader)
  while (reader.words[reader.at] === 'AND') {
    reader.at += 1
    allowed = readOne(reader) && allowed
  }
  return allowed
}

function readOne(reader: Reader): boolean {
  const word = reader.words[reader.at]
  reader.at += 1
  if (word !== '(') return word !== undefined && reader.allowing.has(word)
  const allowed = readChoice(reader)
  const closed = reader.words[reader.at] === ')'
  reader.at += 1
  return allowed && closed
}
