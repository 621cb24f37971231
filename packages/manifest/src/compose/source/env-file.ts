// Parses files of variables such as .env by the rules of Compose: one NAME=VALUE in each line, quotes, comments, and
// variables of earlier lines in values that are not in single quotes.

import { interpolate, type Lookup } from './interpolate.ts'

const LINE = /^[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.-]*)[ \t]*(=?)[ \t]*/
const SINGLE = /^'((?:[^'\\]|\\[\s\S])*)'/
const DOUBLE = /^"((?:[^"\\]|\\[\s\S])*)"/
const ESCAPES: { readonly [letter: string]: string } = {
  n: '\n',
  r: '\r',
  t: '\t',
  '\\': '\\',
  '"': '"',
  $: '$$',
}

export interface EnvFileOptions {
  /** Variables from outside the file. They are used in values and never changed. */
  readonly lookup: Lookup
  /** True if values are used as they are, with quotes and dollar signs. */
  readonly raw?: boolean
}

/** The variables of a file, in order. A variable without a value is undefined. Lines of another form are left out. */
export function parseEnvFile(
  text: string,
  { lookup, raw = false }: EnvFileOptions,
): Map<string, string | undefined> {
  const found = new Map<string, string | undefined>()
  const known: Lookup = (name) => lookup(name) ?? found.get(name)
  let at = text.startsWith('\ufeff') ? 1 : 0
  while (at < text.length) {
    const lineEnd = endOfLine(text, at)
    const line = LINE.exec(text.slice(at, lineEnd))
    if (line === null || line[1] === undefined) {
      at = lineEnd + 1
      continue
    }
    const start = at + line[0].length
    const value = raw ? rawValue(text, at, lineEnd) : readValue(text, start, lineEnd, known)
    found.set(line[1], line[2] === '' ? undefined : value.text)
    at = endOfLine(text, value.end) + 1
  }
  return found
}

function endOfLine(text: string, from: number): number {
  const found = text.indexOf('\n', from)
  return found === -1 ? text.length : found
}

interface Value {
  readonly text: string
  readonly end: number
}

const rawValue = (text: string, from: number, end: number): Value => ({
  text: text.slice(text.indexOf('=', from) + 1, end).replace(/\r$/, ''),
  end,
})

/** Reads a value, which may continue on further lines inside quotes. */
function readValue(text: string, start: number, lineEnd: number, lookup: Lookup): Value {
  const rest = text.slice(start)
  const single = SINGLE.exec(rest)
  if (single?.[1] !== undefined)
    return { text: single[1].replaceAll("\\'", "'"), end: start + single[0].length }
  const double = DOUBLE.exec(rest)
  if (double?.[1] !== undefined)
    return { text: interpolate(withoutEscapes(double[1]), lookup).text, end: start + double[0].length }
  const plain = text.slice(start, lineEnd).replace(/(?:^|[ \t])#.*$/, '')
  return { text: interpolate(plain.trim(), lookup).text, end: lineEnd }
}

const withoutEscapes = (text: string): string =>
  text.replace(/\\([\s\S])/g, (whole, letter: string) => ESCAPES[letter] ?? whole)
