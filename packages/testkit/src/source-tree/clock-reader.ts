// Reads what an expression derives from, with what is known so far of the names and functions in it.

import {
  CLOCK,
  CLOCK_FUNCTION,
  type ClockWorld,
  type Located,
  type ModuleFacts,
  NONE,
  type Origins,
  union,
} from './clock-world.ts'
import {
  child,
  children,
  type Declared,
  isFunction,
  keyOf,
  nameOf,
  type SyntaxNode,
  type SyntaxTree,
} from './syntax-tree.ts'

export interface Parameter {
  /** Stands for the argument in the origins of values: the parameter, or one property of a destructured one. */
  readonly parameter: SyntaxNode
  /** The pattern that declares its names. */
  readonly pattern: SyntaxNode
}

export interface Reader {
  /** The origins of the value of an expression; of a function, those of its result. */
  origins(node: SyntaxNode): Origins
  /** The same, with everything inside array and object literals. */
  deep(node: SyntaxNode): Origins
  /** The origins of a property of a value. */
  fieldOrigins(origins: Origins, key: string | undefined): Origins
  parametersOf(fn: SyntaxNode): readonly Parameter[]
  /** The arguments of a call by parameter, if the called functions are in test code; of one module, if it is named. */
  matched(call: SyntaxNode, only?: ModuleFacts): readonly Argument[]
}
interface Argument extends Parameter {
  readonly value: SyntaxNode
}

/** Members of a value that say nothing about the time in it. */
const COUNTS = new Set(['length', 'size', 'has', 'keys', 'includes', 'indexOf'])
/** Methods whose result derives from the result of their callback; `find` returns a record, not the time in it. */
const MAPS = new Set([
  ...['every', 'evaluate', 'filter', 'findIndex', 'flatMap'],
  ...['from', 'map', 'reduce', 'some', 'then'],
])
/** Globals whose result derives from their arguments. `fetch` and others ask a process, which answers what it likes. */
const COMPUTES = new Set([
  ...[
    'Array',
    'BigInt',
    'Boolean',
    'Date',
    'Intl',
    'JSON',
    'Map',
    'Math',
    'Number',
    'Object',
    'Promise',
    'Set',
  ],
  ...['String', 'parseFloat', 'parseInt', 'structuredClone'],
])
const OPAQUE = new Set(['typeof', 'void', 'delete'])

export function createReader(facts: ModuleFacts, world: ClockWorld): Reader {
  const { tree } = facts
  const functionsOf = (callee: SyntaxNode): readonly Located<SyntaxNode>[] => {
    if (isFunction(callee)) return [{ facts, found: callee }]
    if (callee.type === 'MemberExpression') return methodsOf(callee)
    const declared = callee.type === 'Identifier' ? tree.resolve(callee) : undefined
    const found = declared === undefined ? undefined : functionOf(facts, declared, world)
    return found === undefined ? [] : [found]
  }
  /** The functions in the object literals from which the object derives. */
  const methodsOf = (member: SyntaxNode): readonly Located<SyntaxNode>[] => {
    const [object, key] = [child(member, 'object'), keyOf(member)]
    if (object === undefined || key === undefined) return []
    return [...world.sitesOf(origins(object))].flatMap((site) => {
      const owner = world.moduleOf(site)
      const property = children(site, 'properties').find((one) => keyOf(one) === key)
      const value = property === undefined ? undefined : child(property, 'value')
      if (owner === undefined || value === undefined) return []
      if (isFunction(value)) return [{ facts: owner, found: value }]
      const declared = value.type === 'Identifier' ? owner.tree.resolve(value) : undefined
      const found = declared === undefined ? undefined : functionOf(owner, declared, world)
      return found === undefined ? [] : [found]
    })
  }
  const identifier = (node: SyntaxNode): Origins => {
    const declared = tree.resolve(node)
    if (declared === undefined) return NONE
    const found = functionOf(facts, declared, world)
    if (found !== undefined) return withoutOwn(world.resultOf(found.found), found.found)
    const exporter = world.exporterOf(facts, declared)
    return world.nameOrigins(exporter?.found ?? declared)
  }
  const fieldOrigins = (of: Origins, key: string | undefined): Origins => {
    if (key !== undefined && COUNTS.has(key)) return NONE
    const sites = world.sitesOf(of)
    // `list[index]` leads to what the list holds, and `settled.value` to what the promise holds.
    if (key === undefined || key === 'value')
      return union([of, ...world.fieldsOf(sites).map(([, origins]) => origins)])
    const self = [...of].filter((one) => typeof one === 'string' || !sites.has(one))
    return union([new Set(self), ...[...sites].map((site) => world.fieldOf(site, key))])
  }
  const matched = (node: SyntaxNode, only?: ModuleFacts): readonly Argument[] => {
    const callee = child(node, 'callee')
    const given = children(node, 'arguments')
    const found = callee === undefined ? [] : functionsOf(callee)
    return found.flatMap(({ facts: owner, found: fn }) =>
      only !== undefined && owner !== only
        ? []
        : parametersOf(fn).flatMap((one) => argumentsFor(one, fn, given)),
    )
  }
  const call = (node: SyntaxNode): Origins => {
    const callee = child(node, 'callee')
    if (callee === undefined) return NONE
    const given = children(node, 'arguments')
    const found = functionsOf(callee)
    if (found.length > 0) {
      const results = found.map(({ found: fn }) => world.resultOf(fn))
      const passed = matched(node).filter(({ parameter }) => results.some((one) => one.has(parameter)))
      return union([
        ...found.map(({ found: fn }, index) => withoutOwn(results[index] ?? NONE, fn)),
        ...passed.map(({ value }) => deep(value)),
      ])
    }
    const isGlobal = isGlobalCallee(callee, tree)
    if (isGlobal && node.type === 'NewExpression' && nameOf(callee) === 'Date' && given.length === 0)
      return new Set([CLOCK])
    const mapped = MAPS.has(keyOf(callee) ?? '') ? given.filter((one) => functionsOf(one).length > 0) : []
    const object = callee.type === 'MemberExpression' ? child(callee, 'object') : undefined
    const receiver = object === undefined || COUNTS.has(keyOf(callee) ?? '') ? NONE : origins(object)
    const called = origins(callee)
    const read: Origins = called.has(CLOCK_FUNCTION) ? new Set([CLOCK]) : NONE
    return union([receiver, called, read, ...(isGlobal ? given.map(deep) : []), ...mapped.map(origins)])
  }
  const member = (node: SyntaxNode): Origins => {
    const object = child(node, 'object')
    if (object === undefined) return NONE
    if (!isClock(node, tree)) return fieldOrigins(origins(object), keyOf(node))
    return new Set([child(tree.parentOf(node) ?? node, 'callee') === node ? CLOCK : CLOCK_FUNCTION])
  }
  /** `isOld(one) && one` is one, or nothing; `isOld(one) && isBig` is a condition. */
  const logical = (node: SyntaxNode): Origins => {
    const right = child(node, 'right')
    const isValue = node['operator'] === '&&' && right !== undefined && !CONDITION.test(right.type)
    return isValue ? origins(right) : operands(node)
  }
  const operands = (node: SyntaxNode): Origins =>
    union(
      OPERANDS.flatMap((key) => [...children(node, key), ...[child(node, key) ?? []].flat()]).map(origins),
    )
  const origins = (node: SyntaxNode): Origins => {
    if (isFunction(node)) return withoutOwn(world.resultOf(node), node)
    switch (node.type) {
      case 'Identifier':
        return identifier(node)
      case 'MemberExpression':
        return member(node)
      case 'CallExpression':
      case 'NewExpression':
        return call(node)
      case 'ObjectExpression':
        return new Set([node])
      case 'BinaryExpression':
        // The clock modulo a number is a random seed, not a time.
        return node['operator'] === '%' ? NONE : operands(node)
      case 'LogicalExpression':
        return logical(node)
      case 'UnaryExpression':
        return OPAQUE.has(String(node['operator'])) ? NONE : operands(node)
      case 'AssignmentExpression': {
        const right = child(node, 'right')
        return right === undefined ? NONE : origins(right)
      }
      default:
        return PASSES.test(node.type) ? operands(node) : NONE
    }
  }
  const deep = (node: SyntaxNode): Origins => {
    if (node.type === 'ArrayExpression') return union(children(node, 'elements').map(deep))
    if (node.type !== 'ObjectExpression') return origins(node)
    const values = children(node, 'properties').map((one) => child(one, 'value') ?? child(one, 'argument'))
    return union(values.map((value) => (value === undefined ? NONE : deep(value))))
  }
  return { origins, deep, fieldOrigins, parametersOf, matched }
}

const PASSES =
  /^(?:Conditional|Await|Yield|Update|Sequence|Array|Chain|Parenthesized|TS\w+)Expression$|^TemplateLiteral$|^SpreadElement$/
const CONDITION = /^(?:Binary|Logical|Unary|Parenthesized)Expression$/
const OPERANDS = [
  'left',
  'right',
  'test',
  'consequent',
  'alternate',
  'argument',
  'expression',
  'expressions',
  'elements',
]

function functionOf(
  facts: ModuleFacts,
  declared: Declared,
  world: ClockWorld,
): Located<SyntaxNode> | undefined {
  const { by } = declared
  if (by.type === 'FunctionDeclaration') return { facts, found: by }
  const init = by.type === 'VariableDeclarator' ? child(by, 'init') : undefined
  if (init !== undefined) return isFunction(init) ? { facts, found: init } : undefined
  const exporter = world.exporterOf(facts, declared)
  return exporter === undefined ? undefined : functionOf(exporter.facts, exporter.found, world)
}

/** The parameters of a function; of one that is destructured, each of its properties. */
function parametersOf(fn: SyntaxNode): readonly Parameter[] {
  return children(fn, 'params').flatMap((parameter) => {
    const pattern = withoutDefault(parameter)
    if (pattern.type !== 'ObjectPattern') return [{ parameter, pattern: parameter }]
    return children(pattern, 'properties').map((property) => ({
      parameter: property,
      pattern: child(property, 'value') ?? property,
    }))
  })
}

const withoutDefault = (param: SyntaxNode): SyntaxNode =>
  param.type === 'AssignmentPattern' ? (child(param, 'left') ?? param) : param

function argumentsFor(one: Parameter, fn: SyntaxNode, given: readonly SyntaxNode[]): readonly Argument[] {
  const index = children(fn, 'params').findIndex((param) => {
    const pattern = withoutDefault(param)
    return param === one.parameter || children(pattern, 'properties').includes(one.parameter)
  })
  if (one.parameter.type === 'RestElement') return given.slice(index).map((value) => ({ ...one, value }))
  const value = given[index]
  if (value === undefined) return []
  if (one.parameter.type !== 'Property' || value.type !== 'ObjectExpression') return [{ ...one, value }]
  const key = keyOf(one.parameter)
  const property = children(value, 'properties').find((each) => keyOf(each) === key)
  const named = property === undefined ? undefined : child(property, 'value')
  return named === undefined ? [] : [{ ...one, value: named }]
}

/** The origins of a function's result without its own parameters, which only its calls know. */
function withoutOwn(result: Origins, fn: SyntaxNode): Origins {
  const own = new Set(parametersOf(fn).map(({ parameter }) => parameter))
  return new Set([...result].filter((one) => typeof one === 'string' || !own.has(one)))
}

function isClock(node: SyntaxNode, tree: SyntaxTree): boolean {
  const object = child(node, 'object')
  const name = nameOf(object)
  if (keyOf(node) === 'hrtime') return name === 'process'
  return keyOf(node) === 'now' && (name === 'performance' || (name === 'Date' && isGlobal(object, tree)))
}

const isGlobal = (node: SyntaxNode | undefined, tree: SyntaxTree): boolean =>
  node !== undefined && COMPUTES.has(nameOf(node) ?? '') && tree.resolve(node) === undefined

function isGlobalCallee(callee: SyntaxNode, tree: SyntaxTree): boolean {
  const object = callee.type === 'MemberExpression' ? child(callee, 'object') : undefined
  return isGlobal(object ?? callee, tree)
}
