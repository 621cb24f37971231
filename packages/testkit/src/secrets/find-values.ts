// Finds which of many values occur in some bytes, in any encoding: plain, escaped, or in base64 at any offset. All values
// are searched in one pass, because tests search for thousands of values in gigabytes of write-ahead logs.

import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface ValueSearch {
  /** Returns the values that occur in the bytes. */
  in(bytes: Uint8Array): Set<string>
  /**
   * Values found in the folder, by path of the file that contains them. Reads regular files only and follows no links.
   */
  inFolder(folder: string, skip?: (path: string) => boolean): Map<string, Set<string>>
}

interface Needle {
  readonly bytes: Buffer
  readonly value: string
}

export function searchFor(values: Iterable<string>): ValueSearch {
  const { heads, byHead } = indexOf([...values].flatMap(needlesOf))
  const find = (bytes: Uint8Array): Set<string> => {
    const found = new Set<string>()
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    let head = 0
    for (let at = 0; at < text.length; at += 1) {
      head = ((head << 8) | (text[at] ?? 0)) & 0xff_ff_ff
      if (heads[head] === 0) continue
      for (const { bytes: needle, value } of byHead.get(head) ?? []) {
        const from = at - 2
        if (from >= 0 && needle.equals(text.subarray(from, from + needle.length))) found.add(value)
      }
    }
    return found
  }
  return {
    in: find,
    inFolder(folder, skip = () => false) {
      const hits = new Map<string, Set<string>>()
      for (const path of filesIn(folder, '', skip)) {
        const found = find(readIfThere(join(folder, path)))
        if (found.size > 0) hits.set(path, found)
      }
      return hits
    },
  }
}

/** Indexes the searched byte sequences by their first three bytes. */
function indexOf(needles: readonly Needle[]) {
  const heads = new Uint8Array(2 ** 24)
  const byHead = new Map<number, Needle[]>()
  for (const needle of needles) {
    const head = needle.bytes.readUIntBE(0, 3)
    heads[head] = 1
    byHead.set(head, [...(byHead.get(head) ?? []), needle])
  }
  return { heads, byHead }
}

function needlesOf(value: string): Needle[] {
  const forms = formsOf(value).map((form) => Buffer.from(form))
  return forms.map((bytes) => ({ bytes, value }))
}

export function formsOf(value: string): string[] {
  const bytes = Buffer.from(value)
  const escaped = JSON.stringify(value).slice(1, -1)
  const hex = bytes.toString('hex')
  const inUrl = encodeURIComponent(value)
  const forms = [
    value,
    escaped,
    JSON.stringify(escaped).slice(1, -1),
    asGoEscapes(escaped),
    hex,
    hex.toUpperCase(),
    inUrl,
    inUrl.toLowerCase(),
    inUrl.replaceAll('%20', '+'),
    ...[0, 1, 2].flatMap((before) => inBase64(bytes, before)),
  ]
  return [...new Set(forms)]
}

/** Escapes a text as Go does, because the engines, their logs and the secrets store are written in Go. */
const asGoEscapes = (escaped: string): string =>
  escaped.replaceAll('<', '\\u003c').replaceAll('>', '\\u003e').replaceAll('&', '\\u0026')

/** The base64 characters that depend only on the value, if `before` bytes precede the value. */
function inBase64(bytes: Buffer, before: number): string[] {
  const padded = Buffer.concat([Buffer.alloc(before), bytes])
  const from = before === 0 ? 0 : before + 1
  const end = Math.floor((padded.length * 4) / 3)
  return [padded.toString('base64').slice(from, end), padded.toString('base64url').slice(from, end)]
}

function filesIn(folder: string, below: string, skip: (path: string) => boolean): string[] {
  return namesIn(join(folder, below)).flatMap((name) => {
    const path = join(below, name)
    if (skip(path)) return []
    const about = lstatSync(join(folder, path), { throwIfNoEntry: false })
    if (about?.isDirectory() === true) return filesIn(folder, path, skip)
    return about?.isFile() === true ? [path] : []
  })
}

/** Names in a folder. Running processes change folders during the search, so a folder that has disappeared is skipped. */
const namesIn = (folder: string): string[] => orElse(() => readdirSync(folder), [])
const readIfThere = (path: string): Buffer => orElse(() => readFileSync(path), Buffer.alloc(0))

function orElse<T>(read: () => T, otherwise: T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return otherwise
    throw error
  }
}
