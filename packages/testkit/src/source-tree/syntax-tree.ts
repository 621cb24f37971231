// The syntax tree of a TypeScript file, with the parent of each node and the declaration of each name. TypeScript 7 has no
// stable compiler API, so oxc-parser reads the files. Checks that only need tokens use scan-source.ts.

import { parseSync } from 'oxc-parser'

export interface SyntaxNode {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

/** A name that the file declares. */
export interface Declared {
  readonly name: string
  /** The node that declares it: a declarator, a function, a parameter's function, an import specifier and so on. */
  readonly by: SyntaxNode
}

export interface SyntaxTree {
  readonly root: SyntaxNode
  /** Every node except types, outer nodes first. */
  readonly nodes: readonly SyntaxNode[]
  parentOf(node: SyntaxNode): SyntaxNode | undefined
  /** Finds the declaration that an identifier refers to; undefined for a global name. */
  resolve(identifier: SyntaxNode): Declared | undefined
  /** Finds the declaration of a name that is visible at the node. */
  resolveName(at: SyntaxNode, name: string): Declared | undefined
  /** The names that a node declares. */
  declaredBy(node: SyntaxNode): readonly Declared[]
  lineOf(node: SyntaxNode): number
}

const isNode = (value: unknown): value is SyntaxNode =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'

/** The child node with this key. */
export function child(node: SyntaxNode, key: string): SyntaxNode | undefined {
  const value = node[key]
  return isNode(value) ? value : undefined
}

/** The child nodes in the list with this key. */
export function children(node: SyntaxNode, key: string): readonly SyntaxNode[] {
  const value = node[key]
  return Array.isArray(value) ? value.filter(isNode) : []
}

/** The child nodes in the list with this key, and undefined for each hole: `[, a]` has two. */
export function childrenAndHoles(node: SyntaxNode, key: string): readonly (SyntaxNode | undefined)[] {
  const value = node[key]
  return Array.isArray(value) ? value.map((one: unknown) => (isNode(one) ? one : undefined)) : []
}

export const nameOf = (node: SyntaxNode | undefined): string | undefined => {
  const name = node?.['name']
  return node?.type === 'Identifier' && typeof name === 'string' ? name : undefined
}

/** The name of a member or of a property, unless it is computed. */
export function keyOf(node: SyntaxNode): string | undefined {
  const key = child(node, node.type === 'MemberExpression' ? 'property' : 'key')
  if (key === undefined) return undefined
  if (key.type === 'Literal') return typeof key['value'] === 'string' ? key['value'] : undefined
  return node['computed'] === true ? undefined : nameOf(key)
}

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'])
export const isFunction = (node: SyntaxNode): boolean => FUNCTIONS.has(node.type)

const SCOPES = new Set([
  ...FUNCTIONS,
  'Program',
  'BlockStatement',
  'ForStatement',
  'ForOfStatement',
  'ForInStatement',
  'CatchClause',
  'SwitchStatement',
])

/** Keys of types, which hold no value. */
const TYPES = new Set(['typeAnnotation', 'typeArguments', 'typeParameters', 'returnType'])

export function parseSource(path: string, source: string): SyntaxTree {
  const parsed = parseSync(path, source, { range: false, sourceType: 'module' })
  const [error] = parsed.errors
  if (error !== undefined) throw new Error(`${path}: ${error.message}`)
  const root: unknown = parsed.program
  if (!isNode(root)) throw new Error(`${path}: the parser returned no program`)
  const parents = new Map<SyntaxNode, SyntaxNode>()
  const nodes: SyntaxNode[] = []
  const visit = (node: SyntaxNode): void => {
    if (/^TS(?:TypeAlias|Interface)Declaration$/.test(node.type)) return
    nodes.push(node)
    for (const [key, value] of Object.entries(node)) {
      if (TYPES.has(key)) continue
      for (const one of Array.isArray(value) ? value : [value]) {
        if (!isNode(one)) continue
        parents.set(one, node)
        visit(one)
      }
    }
  }
  visit(root)
  const parentOf = (node: SyntaxNode) => parents.get(node)
  const scopes = declarations(nodes, parentOf)
  const resolveName = (from: SyntaxNode, name: string): Declared | undefined => {
    for (let at: SyntaxNode | undefined = from; at !== undefined; at = parents.get(at)) {
      const found = scopes.get(at)?.get(name)
      if (found !== undefined) return found
    }
    return undefined
  }
  const resolved = new Map<SyntaxNode, Declared | undefined>()
  return {
    root,
    nodes,
    parentOf,
    resolve(identifier) {
      if (!resolved.has(identifier))
        resolved.set(identifier, resolveName(identifier, nameOf(identifier) ?? ''))
      return resolved.get(identifier)
    },
    resolveName,
    declaredBy: (node) =>
      [...scopes.values()].flatMap((names) => [...names.values()].filter(({ by }) => by === node)),
    lineOf: (node) => source.slice(0, node.start).split('\n').length,
  }
}

type Scopes = ReadonlyMap<SyntaxNode, ReadonlyMap<string, Declared>>

function declarations(
  nodes: readonly SyntaxNode[],
  parentOf: (node: SyntaxNode) => SyntaxNode | undefined,
): Scopes {
  const scopes = new Map<SyntaxNode, Map<string, Declared>>()
  const declare = (from: SyntaxNode | undefined, by: SyntaxNode, names: readonly string[]): void => {
    let scope = from
    while (scope !== undefined && !SCOPES.has(scope.type)) scope = parentOf(scope)
    if (scope === undefined) return
    const known = scopes.get(scope) ?? new Map<string, Declared>()
    scopes.set(scope, known)
    for (const name of names) if (!known.has(name)) known.set(name, { name, by })
  }
  for (const node of nodes) {
    const id = child(node, 'id')
    if (node.type === 'VariableDeclarator') declare(parentOf(node), node, namesIn(id))
    if (node.type === 'FunctionDeclaration' || node.type === 'ClassDeclaration')
      declare(parentOf(node), node, namesIn(id))
    if (isFunction(node)) for (const param of children(node, 'params')) declare(node, param, namesIn(param))
    if (node.type === 'CatchClause') declare(node, node, namesIn(child(node, 'param')))
    if (/^Import(?:Default|Namespace)?Specifier$/.test(node.type))
      declare(parentOf(node), node, namesIn(child(node, 'local')))
  }
  return scopes
}

/** The names that a pattern declares: `{ a, b: [c], ...d }` declares a, c and d. */
export function namesIn(pattern: SyntaxNode | undefined): readonly string[] {
  if (pattern === undefined) return []
  const name = nameOf(pattern)
  if (name !== undefined) return [name]
  switch (pattern.type) {
    case 'AssignmentPattern':
      return namesIn(child(pattern, 'left'))
    case 'RestElement':
      return namesIn(child(pattern, 'argument'))
    case 'Property':
      return namesIn(child(pattern, 'value'))
    case 'ObjectPattern':
      return children(pattern, 'properties').flatMap(namesIn)
    case 'ArrayPattern':
      return children(pattern, 'elements').flatMap(namesIn)
    default:
      return []
  }
}
