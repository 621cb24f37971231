// Parses a configuration text into values with their places. Rejects aliases, tags, second documents and repeated names
// of YAML. Error messages of the YAML parser are not shown, because they quote the text, which may contain a secret.

import { childPath, elementPath } from '@holdfast/contract'
import { isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, type YAMLMap } from 'yaml'
import { type ConfigFaultKind, REDACTED } from './config-fault.ts'
import { addFault, createTree, type Draft, isTree, type Place } from './draft.ts'
import { showKnown } from './settings-table.ts'

interface Reader {
  readonly draft: Draft
  /** Returns the file, line and column of a character offset in the configuration text. */
  readonly locate: (offset: number) => Place
}

const MAX_CHARACTERS = 1024 * 1024

const SYNTAX: { readonly [code: string]: string } = {
  BAD_INDENT: 'another indentation, or the end of a bracket',
  BLOCK_AS_IMPLICIT_KEY: 'one setting on each line; put text that contains ": " in quotes',
  MISSING_CHAR: 'a missing character: a closing quote or bracket, or the space after a colon',
  MULTILINE_IMPLICIT_KEY: 'a name and its colon on one line',
  MULTIPLE_DOCS: 'one document only',
  RESOURCE_EXHAUSTION: 'less nesting',
  TAB_AS_INDENT: 'spaces as indentation, no tabs',
}

/** Adds the file's values to the draft. Returns false when the text has no settings that can be checked. */
export function readYamlFile(draft: Draft, text: string): boolean {
  const lines = new LineCounter()
  const locate = (offset: number): Place => {
    const { line, col } = lines.linePos(offset)
    return { label: `${draft.nowhere.label}:${Math.max(line, 1)}:${Math.max(col, 1)}`, order: offset }
  }
  const parsed = parse({ draft, locate }, text, '', lines)
  if (parsed === undefined) return false
  draft.places.delete('')
  const root = parsed.value ?? createTree()
  if (isTree(root)) Object.assign(draft.root, root)
  else reject({ draft, locate }, 'type', '', 0, 'settings, each a name, a colon and a value')
  return isTree(root)
}

/** Parses an environment variable whose value is JSON; returns undefined when the JSON is invalid. */
export function readJsonVariable(draft: Draft, text: string, path: string, place: Place): unknown {
  return parse({ draft, locate: () => place }, text, path, new LineCounter())?.value
}

function parse(
  reader: Reader,
  text: string,
  path: string,
  lineCounter: LineCounter,
): { value: unknown } | undefined {
  if (text.length > MAX_CHARACTERS) {
    reject(reader, 'syntax', path, 0, `at most ${MAX_CHARACTERS} characters`)
    return undefined
  }
  // With the log level `error`, the YAML parser reports a second document as an error and writes nothing to the log.
  const options = { lineCounter, prettyErrors: false, uniqueKeys: false, logLevel: 'error' } as const
  const { errors, directives, contents } = parseDocument(text, options)
  const seen = new Set<string>()
  for (const { code, pos } of errors) {
    if (code === 'RESOURCE_EXHAUSTION' && seen.has(code)) continue
    seen.add(code)
    const expected = SYNTAX[code] ?? code.toLowerCase().replaceAll('_', ' ')
    reject(reader, 'syntax', path, pos[0], `YAML: ${expected}`)
  }
  if (directives?.yaml.explicit === true) reject(reader, 'syntax', path, 0, 'no %YAML directive')
  return errors.length > 0 ? undefined : { value: toValue(reader, contents, path) }
}

function toValue(reader: Reader, node: unknown, path: string): unknown {
  if (!isNode(node)) return null
  const offset = node.range?.[0] ?? 0
  reader.draft.places.set(path, reader.locate(offset))
  if (isAlias(node)) {
    reject(
      reader,
      'alias',
      path,
      offset,
      'a value in place of an alias; put text that begins with * in quotes',
    )
    return undefined
  }
  if (node.tag !== undefined) {
    reject(reader, 'tag', path, offset, 'a value without a tag; put text that begins with ! in quotes')
    return undefined
  }
  if (isMap(node)) return toTree(reader, node, path)
  if (isSeq(node)) return node.items.map((item, index) => toValue(reader, item, elementPath(path, index)))
  return isScalar(node) ? node.value : undefined
}

function toTree(reader: Reader, node: YAMLMap, path: string): unknown {
  const { draft, locate } = reader
  const tree = createTree()
  for (const { key, value } of node.items) {
    const offset = isNode(key) ? (key.range?.[0] ?? 0) : 0
    if (!isScalar(key)) {
      reject(reader, 'syntax', path, offset, 'a plain name before the colon')
      continue
    }
    const name = String(key.value)
    const inner = childPath(path, name)
    if (Object.hasOwn(tree, name)) {
      reject(reader, 'duplicate', inner, offset, 'each name only once')
      continue
    }
    tree[name] = toValue(reader, value, inner)
    draft.names.set(inner, locate(offset))
    if (isTree(tree[name]) || !isNode(value)) draft.places.set(inner, locate(offset))
  }
  return tree
}

function reject(
  { draft, locate }: Reader,
  kind: ConfigFaultKind,
  path: string,
  at: number,
  expected: string,
): void {
  const received = kind === 'syntax' || kind === 'duplicate' ? '' : REDACTED
  addFault(draft, kind, showKnown(path), expected, { place: locate(at), received })
}
