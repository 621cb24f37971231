// The text of a configuration as values with their places. YAML 1.2 without its surprises: no aliases, so that no text
// can grow; no tags; no second document; a name stands once. NOTE the parser's own messages quote the text, which may
// hold a secret: only its codes and positions are used.

import { childPath, elementPath } from '@holdfast/contract'
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml'
import { type ConfigFaultKind, receivedUnknown } from './config-fault.ts'
import { addFault, createTree, type Draft, isTree, type Place } from './draft.ts'
import { showKnown } from './leaves.ts'

/** From an offset in the text to what people call the place. */
type Locate = (offset: number) => Place

const MAX_CHARACTERS = 1024 * 1024

const SYNTAX: { readonly [code: string]: string } = {
  BAD_INDENT: 'another indentation, or the end of a bracket',
  BLOCK_AS_IMPLICIT_KEY: 'one setting on each line; text with ": " in it wants quotes',
  MISSING_CHAR: 'a missing character: a closing quote or bracket, or the space behind a colon',
  MULTILINE_IMPLICIT_KEY: 'a name and its colon on one line',
  MULTIPLE_DOCS: 'one document only',
  RESOURCE_EXHAUSTION: 'less nesting',
  TAB_AS_INDENT: 'spaces as indentation, no tabs',
}

/** Puts the file's values into the draft. False when the text gave nothing that can be judged further. */
export function readYamlFile(draft: Draft, text: string): boolean {
  const lines = new LineCounter()
  const locate = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return { label: `${draft.nowhere.label}:${Math.max(line, 1)}:${Math.max(col, 1)}`, order: offset }
  }
  const document = parse(draft, text, '', locate, lines)
  if (document === undefined) return false
  const value = document.contents === null ? null : toValue(draft, document.contents, '', locate)
  const root = value ?? createTree()
  draft.values.delete('')
  if (isTree(root)) Object.assign(draft.root, root)
  else refuse(draft, 'type', '', locate(0), 'settings, each a name, a colon and a value')
  return isTree(root)
}

/** The value of one variable that holds JSON; undefined when a fault was added. */
export function readJsonVariable(draft: Draft, text: string, path: string, place: Place): unknown {
  const locate = () => place
  const document = parse(draft, text, path, locate, new LineCounter())
  if (document === undefined) return undefined
  return document.contents === null ? null : toValue(draft, document.contents, path, locate)
}

function parse(
  draft: Draft,
  text: string,
  path: string,
  locate: Locate,
  lineCounter: LineCounter,
): Document.Parsed | undefined {
  if (text.length > MAX_CHARACTERS) {
    refuse(draft, 'syntax', path, locate(0), `at most ${MAX_CHARACTERS} characters`)
    return undefined
  }
  // NOTE the log level decides whether a second document is an error; nothing is logged by this call.
  const document = parseDocument(text, {
    lineCounter,
    prettyErrors: false,
    uniqueKeys: false,
    logLevel: 'error',
  })
  const seen = new Set<string>()
  for (const { code, pos } of document.errors) {
    if (code === 'RESOURCE_EXHAUSTION' && seen.has(code)) continue
    seen.add(code)
    refuse(
      draft,
      'syntax',
      path,
      locate(pos[0]),
      `YAML: ${SYNTAX[code] ?? code.toLowerCase().replaceAll('_', ' ')}`,
    )
  }
  if (document.directives?.yaml.explicit === true) {
    refuse(draft, 'syntax', path, locate(0), 'no %YAML directive')
  }
  return document.errors.length > 0 ? undefined : document
}

function toValue(draft: Draft, node: Node, path: string, locate: Locate): unknown {
  const place = locate(node.range?.[0] ?? 0)
  draft.values.set(path, place)
  if (isAlias(node)) {
    refuse(
      draft,
      'alias',
      path,
      place,
      'the value itself: aliases are not accepted, and text that begins with * wants quotes',
    )
    return undefined
  }
  if (node.tag !== undefined) {
    refuse(draft, 'tag', path, place, 'a value without a tag; text that begins with ! wants quotes')
    return undefined
  }
  if (isMap(node)) return toTree(draft, node, path, locate)
  if (isSeq(node))
    return node.items.map((item, index) => toElement(draft, item, elementPath(path, index), locate))
  return isScalar(node) ? node.value : undefined
}

function toElement(draft: Draft, item: unknown, path: string, locate: Locate): unknown {
  return isNode(item) ? toValue(draft, item, path, locate) : null
}

function toTree(
  draft: Draft,
  node: {
    readonly items: readonly { readonly key: unknown; readonly value: unknown }[]
    readonly range?: unknown
  },
  path: string,
  locate: Locate,
): unknown {
  const tree = createTree()
  for (const { key, value } of node.items) {
    if (!isScalar(key)) {
      const place = isNode(key) ? locate(key.range?.[0] ?? 0) : locate(0)
      refuse(draft, 'syntax', path, place, 'a plain name before the colon')
      continue
    }
    const name = String(key.value)
    const inner = childPath(path, name)
    const place = locate(key.range?.[0] ?? 0)
    if (Object.hasOwn(tree, name)) {
      refuse(draft, 'duplicate', inner, place, 'each name once')
      continue
    }
    tree[name] = isNode(value) ? toValue(draft, value, inner, locate) : null
    draft.names.set(inner, place)
    // A section is where its name is.
    if (isTree(tree[name])) draft.values.delete(inner)
  }
  return tree
}

function isNode(value: unknown): value is Node {
  return isMap(value) || isSeq(value) || isScalar(value) || isAlias(value)
}

function refuse(draft: Draft, kind: ConfigFaultKind, path: string, place: Place, expected: string): void {
  const received = kind === 'syntax' || kind === 'duplicate' ? '' : receivedUnknown('')
  addFault(draft, place, { kind, field: showKnown(path), received, expected })
}
