// Reads the text of a Compose file into a tree: YAML with aliases and merge keys resolved and variables replaced.

import type { PathStep } from '@holdfast/contract'
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseAllDocuments,
  type YAMLMap,
} from 'yaml'
import { isNodeLike } from '../../locate.ts'
import { withoutQuote } from '../../parse-source.ts'
import { interpolate, type Lookup } from './interpolate.ts'
import type { Written, WrittenMap, WrittenScalar } from './written.ts'

export type ReadSource =
  | { readonly ok: true; readonly root: WrittenMap; readonly lineOf: (offset: number) => number }
  | { readonly ok: false; readonly line: number; readonly why: string }

/** Aliases may repeat parts of a file, so the whole tree is bounded and not only the text. */
const MOST_MEMBERS = 50_000
const MOST_DEPTH = 64

/** Thrown inside this file only, where the tree grows beyond its bounds. */
class TooLargeError extends Error {}

export function readComposeSource(text: string, lookup: Lookup): ReadSource {
  const lines = new LineCounter()
  const lineOf = (offset: number): number => lines.linePos(offset).line
  const parsed = parseAllDocuments(text, {
    stringKeys: true,
    prettyErrors: false,
    logLevel: 'silent',
    lineCounter: lines,
  })
  const failed = (offset: number, why: string): ReadSource => ({ ok: false, line: lineOf(offset) || 1, why })
  if ('empty' in parsed) return failed(0, 'The file has no content.')
  const [first, second] = parsed
  const fault = parsed.flatMap(({ errors, warnings }) => [...errors, ...warnings])[0]
  if (fault !== undefined)
    return failed(fault.pos[0], `The file is not valid YAML: ${withoutQuote(fault.message)}.`)
  if (second !== undefined)
    return failed(
      second.contents?.range?.[0] ?? 0,
      'The file has several documents; split it and import each part.',
    )
  const contents: unknown = first?.contents
  if (!isMap(contents)) return failed(0, 'The file is not a Compose file: it has no map at the top level.')
  try {
    const root = createReader(lookup).readMap(contents, [], 0, offsetOf(contents))
    return { ok: true, root, lineOf }
  } catch (error) {
    if (!(error instanceof TooLargeError)) throw error
    return failed(
      0,
      `Aliases expand the file to more than ${MOST_MEMBERS} members, or to a depth of more than ${MOST_DEPTH}.`,
    )
  }
}

const offsetOf = (node: Node): number => node.range?.[0] ?? 0

/** Reads nodes in document order, because an alias refers to the last anchor of its name before it. */
function createReader(lookup: Lookup) {
  const anchors = new Map<string, Node>()
  let members = 0

  function resolved(node: Node): Node | undefined {
    if (isAlias(node)) return anchors.get(node.source)
    if ('anchor' in node && typeof node.anchor === 'string') anchors.set(node.anchor, node)
    return node
  }

  function read(given: unknown, steps: readonly PathStep[], depth: number, offset: number): Written {
    members += 1
    if (members > MOST_MEMBERS || depth > MOST_DEPTH) throw new TooLargeError()
    const node = isNodeLike(given) ? resolved(given) : undefined
    if (isMap(node)) return readMap(node, steps, depth, offset)
    if (isSeq(node))
      return {
        kind: 'list',
        steps,
        offset,
        items: node.items.map((item, index) =>
          read(item, [...steps, index], depth + 1, isNodeLike(item) ? offsetOf(item) : offset),
        ),
      }
    return { kind: 'scalar', steps, offset, ...scalarText(node) }
  }

  function scalarText(node: Node | undefined): Pick<WrittenScalar, 'text' | 'variables' | 'unset'> {
    if (!isScalar(node) || node.value === null) return { text: null, variables: [], unset: [] }
    return interpolate(
      typeof node.value === 'string' ? node.value : (node.source ?? String(node.value)),
      lookup,
    )
  }

  function readMap(node: YAMLMap, steps: readonly PathStep[], depth: number, offset: number): WrittenMap {
    if (depth > MOST_DEPTH) throw new TooLargeError()
    const own = new Map<string, Written>()
    const merged = new Map<string, Written>()
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? String(key.value) : ''
      const at = isScalar(key) ? offsetOf(key) : offsetOf(node)
      if (name !== '<<') own.set(name, read(value, [...steps, name], depth + 1, at))
      else for (const [from, member] of mergedMembers(value, steps, depth)) merged.set(from, member)
    }
    for (const [name, member] of merged) if (!own.has(name)) own.set(name, member)
    return { kind: 'map', steps, offset, members: own }
  }

  /** The members of the maps of a merge key. The first map that has a member decides. */
  function mergedMembers(value: unknown, steps: readonly PathStep[], depth: number): Map<string, Written> {
    const node = isNodeLike(value) ? resolved(value) : undefined
    const sources: readonly unknown[] = isSeq(node) ? node.items : [node]
    const found = new Map<string, Written>()
    for (const source of sources) {
      const map = isNodeLike(source) ? resolved(source) : undefined
      if (!isMap(map)) continue
      for (const [name, member] of readMap(map, steps, depth + 1, offsetOf(map)).members)
        if (!found.has(name)) found.set(name, member)
    }
    return found
  }

  return { readMap }
}
