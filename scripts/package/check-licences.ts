// Decides whether all components that ship have an allowed licence. A licence that is not listed fails the build.

import { PUBLIC_DOMAIN } from './reviewed-licences.ts'
import { purlOf, type Shipped } from './shipped.ts'

/** Licences that allow distribution in binary form with a notice, and ask nothing of the code around them. */
const ALLOWED: ReadonlySet<string> = new Set([
  ...['0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BSL-1.0', 'CC0-1.0', 'ISC'],
  // The MPL asks for the sources of its own files alone; they are public, and the SBOM names their versions.
  ...['MIT', 'MIT-0', 'MPL-2.0', 'Unlicense', 'UPL-1.0', 'Zlib', PUBLIC_DOMAIN],
])

/** One sentence for each component that must not ship. */
export const licenceFaults = (shipped: readonly Shipped[]): string[] => shipped.flatMap(faultsOf)

function faultsOf(each: Shipped): string[] {
  const { licence } = each
  if (licence === undefined) return [`${purlOf(each)} has no known licence.`]
  if (!isAllowed(licence))
    return [`${purlOf(each)} has the licence ${licence}, which is not in the allow-list.`]
  return []
}

/** Reads an SPDX expression of identifiers, AND, OR and brackets. OR is a choice; everything unknown is not allowed. */
export function isAllowed(expression: string): boolean {
  const words = expression.match(/[()]|[^\s()]+/g) ?? []
  const reader = { words, at: 0 }
  const allowed = readChoice(reader)
  return allowed && reader.at === words.length
}

interface Reader {
  readonly words: readonly string[]
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
  if (word !== '(') return word !== undefined && ALLOWED.has(word)
  const allowed = readChoice(reader)
  const closed = reader.words[reader.at] === ')'
  reader.at += 1
  return allowed && closed
}
