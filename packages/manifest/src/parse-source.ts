// Parses a YAML 1.2 or JSON file into documents with source positions. Duplicate keys, tab indentation, unknown tags and
// numbers that JSON cannot represent are syntax errors with a position.

import { isJsonObject, type Json, parseStrictJson, type Rejection } from '@holdfast/contract'
import { type Document, LineCounter, parseAllDocuments } from 'yaml'
import { type ForeignFormat, foreignFormat } from './foreign.ts'
import { type Conversion, convertQuantities } from './quantities.ts'

export interface Source {
  /** The name of the source in error messages. */
  readonly name: string
  readonly bytes: Uint8Array
}

export interface Manifest {
  readonly file: FileText
  readonly tree: Document
  /** The document as it is sent: quantities are numbers of the API. */
  readonly value: Json
  readonly conversions: readonly Conversion[]
  /** Rejections of quantities, which are not part of `value` and which the platform therefore cannot reject. */
  readonly faults: readonly Rejection[]
  /** Set if the document is of another system. Then nothing else is checked. */
  readonly foreign: ForeignFormat | undefined
}

export interface FileText {
  readonly name: string
  readonly text: string
  readonly lines: LineCounter
}

export interface Position {
  /** Line number of the error; the first line is 1. */
  readonly line: number
  /** Column of the error in characters; the first column is 1. */
  readonly column: number
}

export function positionOf({ text, lines }: FileText, offset: number): Position {
  const { line } = lines.linePos(offset)
  const start = lines.lineStarts[line - 1] ?? 0
  return { line, column: [...text.slice(start, offset)].length + 1 }
}

export interface SyntaxFault {
  readonly file: FileText
  readonly offset: number
  readonly message: string
}

export interface ParsedSource {
  readonly manifests: readonly Manifest[]
  readonly faults: readonly SyntaxFault[]
}

const OPTIONS = { intAsBigInt: true, stringKeys: true, prettyErrors: false, logLevel: 'silent' } as const
const MAX_ALIASES = 100

export function parseSource({ name, bytes }: Source): ParsedSource {
  const lines = new LineCounter()
  const text = decodeText(bytes)
  const file = { name, text: text ?? '', lines }
  if (text === undefined) return failedAt(file, 0, 'the file is not UTF-8 text')
  const parsed = parseAllDocuments(text, { ...OPTIONS, lineCounter: lines })
  const json = name.endsWith('.json') ? parseStrictJson(bytes) : undefined
  if (json?.ok === false) return failedAt(file, offsetOf(file, json.fault), json.fault.message)
  if ('empty' in parsed) return { manifests: [], faults: [] }
  const faults = parsed.flatMap(({ errors, warnings }) =>
    [...errors, ...warnings].map(({ pos, message }) => ({
      file,
      offset: pos[0],
      message: withoutQuote(message),
    })),
  )
  if (faults.length > 0) return { manifests: [], faults }
  return toManifests(file, parsed)
}

/** Removes the quoted part of the file from a parser's error message, because the quote may contain a secret. */
export const withoutQuote = (message: string): string => message.replace(/[:\\].*$/s, '').trim()

function toManifests(file: FileText, trees: readonly Document[]): ParsedSource {
  const manifests: Manifest[] = []
  const faults: SyntaxFault[] = []
  for (const tree of trees) {
    const value = readValue(tree)
    const offset = tree.contents?.range?.[0] ?? 0
    if (value === undefined)
      faults.push({
        file,
        offset,
        message: 'the document contains a number that JSON does not support, or too many aliases',
      })
    // An empty document between two `---` lines is skipped.
    else if (value !== null) manifests.push({ file, tree, ...readDocument(value) })
  }
  return { manifests, faults }
}

function readDocument(written: Json): Omit<Manifest, 'file' | 'tree'> {
  const { value, conversions, rejections: faults } = convertQuantities(written)
  return { value, conversions, faults, foreign: foreignFormat(written) }
}

function readValue(tree: Document): Json | undefined {
  try {
    return toJson(tree.toJS({ maxAliasCount: MAX_ALIASES }))
  } catch {
    return undefined
  }
}

/** Converts a parsed YAML value to JSON. Keeps integers exact; throws on values that JSON does not support. */
function toJson(value: Json): Json {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value
  if (typeof value === 'number' && !Number.isFinite(value)) throw new RangeError('not a JSON number')
  if (Array.isArray(value)) return value.map(toJson)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, toJson(member)]))
}

function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

const failedAt = (file: FileText, offset: number, message: string): ParsedSource => ({
  manifests: [],
  faults: [{ file, offset, message }],
})

/** Converts a column in characters, as the strict JSON parser reports it, to an offset in UTF-16 code units. */
function offsetOf({ text, lines }: FileText, { line, column }: { line: number; column: number }): number {
  const start = lines.lineStarts[line - 1] ?? 0
  const before = [...text.slice(start)].slice(0, column - 1).join('')
  return start + before.length
}
