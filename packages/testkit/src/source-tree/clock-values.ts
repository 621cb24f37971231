// Finds which values of tests derive from the wall clock: `performance.now()`, `Date.now()`, `hrtime` and `new Date()`,
// through variables, arithmetic, properties, callbacks, and functions of the same file or of imported test support. Product
// code is not followed: its records carry timestamps, which tests may compare.

import { createReader, type Reader } from './clock-reader.ts'
import {
  type ClockWorld,
  createWorld,
  type ModuleFacts,
  type Origin,
  type Origins,
  union,
} from './clock-world.ts'
import type { SourceTree } from './source-tree.ts'
import {
  child,
  children,
  childrenAndHoles,
  isFunction,
  keyOf,
  type SyntaxNode,
  type SyntaxTree,
} from './syntax-tree.ts'

export interface ClockValues {
  /** The tests and the test support that can hold a value of the clock. */
  readonly paths: readonly string[]
  treeOf(path: string): SyntaxTree
  readerOf(path: string): Reader
}

export function followClock(sources: SourceTree): ClockValues {
  const world = createWorld(sources, settle)
  const readers = new Map<string, Reader>()
  return {
    paths: [...sources.keys()].filter(world.isTimed),
    treeOf: (path) => world.require(path).tree,
    readerOf(path) {
      const reader = readers.get(path) ?? createReader(world.require(path), world)
      readers.set(path, reader)
      return reader
    },
  }
}

/** Methods that add their arguments to the container. */
const ADDS = new Set(['push', 'unshift', 'add', 'set', 'resolve'])

/** Derives the values of a module from each other until nothing changes. */
function settle(facts: ModuleFacts, world: ClockWorld): void {
  const reader = createReader(facts, world)
  let changed = true
  const add = (to: Set<Origin>, origins: Iterable<Origin>): void => {
    for (const origin of origins) {
      if (to.has(origin)) continue
      to.add(origin)
      changed = true
    }
  }
  const write = createWriter(facts, world, reader, add)
  const written = facts.tree.nodes.filter(({ type }) => WRITES.test(type))
  while (changed) {
    changed = false
    for (const node of written) write(node)
  }
}

const WRITES =
  /^(?:Function\w+|ArrowFunctionExpression|VariableDeclarator|AssignmentExpression|ForOfStatement|ObjectExpression|CallExpression)$/

type Add = (to: Set<Origin>, origins: Iterable<Origin>) => void

function createWriter(facts: ModuleFacts, world: ClockWorld, reader: Reader, add: Add) {
  const bind = createBind(facts, world, reader, add)
  const call = (node: SyntaxNode): void => {
    const given = children(node, 'arguments')
    for (const { parameter, pattern, value } of reader.matched(node, facts))
      bind(pattern, value, union([world.sitesOf(reader.origins(value)), new Set([parameter])]))
    const callee = child(node, 'callee')
    const object = callee?.type === 'MemberExpression' ? child(callee, 'object') : undefined
    if (callee === undefined || object === undefined) return
    if (ADDS.has(keyOf(callee) ?? '')) {
      const origins = union(given.filter((one) => !isFunction(one)).map(reader.origins))
      if (origins.size > 0) bind(object, undefined, origins)
    }
    const receiver = reader.origins(object)
    for (const one of given.filter(isFunction))
      for (const param of children(one, 'params')) bind(param, undefined, receiver)
  }
  const object = (site: SyntaxNode): void => {
    for (const property of children(site, 'properties')) {
      const value = child(property, property.type === 'Property' ? 'value' : 'argument')
      const key = keyOf(property)
      if (value === undefined) continue
      if (property.type === 'Property') {
        if (key !== undefined) add(world.fieldOf(site, key), reader.origins(value))
      } else
        for (const [name, origins] of world.fieldsOf(reader.origins(value)))
          add(world.fieldOf(site, name), origins)
    }
  }
  return (node: SyntaxNode): void => {
    const value = child(node, node.type === 'VariableDeclarator' ? 'init' : 'right')
    if (isFunction(node)) {
      add(world.resultOf(node), union((facts.returns.get(node) ?? []).map(reader.origins)))
      for (const { parameter, pattern } of reader.parametersOf(node))
        bind(pattern, undefined, new Set([parameter]))
    } else if (node.type === 'CallExpression') call(node)
    else if (node.type === 'ObjectExpression') object(node)
    else if (value === undefined) return
    else if (node.type === 'ForOfStatement') {
      const left = child(node, 'left')
      const [declarator] = left === undefined ? [] : children(left, 'declarations')
      bind(declarator === undefined ? left : child(declarator, 'id'), undefined, reader.origins(value))
    } else bind(child(node, node.type === 'VariableDeclarator' ? 'id' : 'left'), value, reader.origins(value))
  }
}

type Bind = (pattern: SyntaxNode | undefined, value: SyntaxNode | undefined, origins: Origins) => void

/** Passes what a value derives from to the names of a pattern, or to the target of an assignment. */
function createBind(facts: ModuleFacts, world: ClockWorld, reader: Reader, add: Add): Bind {
  const bindMember = (member: SyntaxNode, origins: Origins): void => {
    const [object, key] = [child(member, 'object'), keyOf(member)]
    if (object === undefined) return
    if (key === undefined) bind(object, undefined, origins)
    else for (const site of world.sitesOf(reader.origins(object))) add(world.fieldOf(site, key), origins)
  }
  const bindArray = (pattern: SyntaxNode, value: SyntaxNode | undefined, origins: Origins): void => {
    const values = value?.type === 'ArrayExpression' ? childrenAndHoles(value, 'elements') : undefined
    for (const [index, element] of childrenAndHoles(pattern, 'elements').entries()) {
      const one = values?.[index]
      if (values === undefined) bind(element, undefined, origins)
      else if (one !== undefined) bind(element, one, reader.origins(one))
    }
  }
  const bind: Bind = (pattern, value, origins) => {
    switch (pattern?.type) {
      case 'Identifier': {
        const declared = facts.tree.resolve(pattern)
        return declared === undefined ? undefined : add(world.nameOrigins(declared), origins)
      }
      case 'MemberExpression':
        return bindMember(pattern, origins)
      case 'AssignmentPattern': {
        const fallback = child(pattern, 'right')
        const both = fallback === undefined ? origins : union([origins, reader.origins(fallback)])
        return bind(child(pattern, 'left'), undefined, both)
      }
      case 'RestElement':
        return bind(child(pattern, 'argument'), undefined, origins)
      case 'ArrayPattern':
        return bindArray(pattern, value, origins)
      case 'ObjectPattern':
        for (const property of children(pattern, 'properties')) {
          if (property.type === 'Property')
            bind(child(property, 'value'), undefined, reader.fieldOrigins(origins, keyOf(property)))
          else bind(property, undefined, origins)
        }
    }
  }
  return bind
}
