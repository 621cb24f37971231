// Finds assertions of tests whose value derives from the wall clock. A busy machine delays everything, so such a test fails
// without a defect. Durations are asserted from timestamps of records, in virtual time, or in bench. See
// docs/design/ci.md#no-wall-clock

import { type ClockValues, followClock } from './clock-values.ts'
import { CLOCK, type Origins } from './clock-world.ts'
import type { SourceTree, Violation } from './source-tree.ts'
import {
  child,
  children,
  isFunction,
  keyOf,
  nameOf,
  type SyntaxNode,
  type SyntaxTree,
} from './syntax-tree.ts'

/** Checks the assertions of every test and of all test support, except in files that the caller exempts. */
export function checkWallClock(sources: SourceTree, isExempt: (path: string) => boolean): Violation[] {
  const values = followClock(sources)
  const paths = values.paths.filter((path) => !/^(?:bench|scripts)\//.test(path))
  const found = paths.flatMap((path) => {
    const tree = values.treeOf(path)
    const allowed = virtualTime(tree)
    return assertionsIn(path, tree, values).filter(({ node }) => !allowed(node))
  })
  const asserted = assertedParameters(paths, values, found)
  const faults = found.concat(asserted).filter(({ origins }) => origins.has(CLOCK))
  return faults
    .filter(({ path }) => !isExempt(path))
    .map(({ path, node }) => ({ path, line: values.treeOf(path).lineOf(node), what: WHAT }))
    .filter(
      ({ path, line }, at, all) => all.findIndex((one) => one.path === path && one.line === line) === at,
    )
}

const WHAT = 'asserts a value that derives from the wall clock'

interface Assertion {
  readonly path: string
  readonly node: SyntaxNode
  readonly origins: Origins
}

function assertionsIn(path: string, tree: SyntaxTree, values: ClockValues): Assertion[] {
  return tree.nodes.flatMap((node) => {
    const parts = assertedParts(node, tree)
    if (parts.length === 0) return []
    const origins = new Set(parts.flatMap((part) => [...values.readerOf(path).deep(part)]))
    return origins.size === 0 ? [] : [{ path, node, origins }]
  })
}

/**
 * The asserted value of `expect(value)` and the expected one of `.toBe(expected)`, the values of `assert(...)`, and the
 * condition of an `if` that throws. A message is no part of an assertion.
 */
function assertedParts(node: SyntaxNode, tree: SyntaxTree): readonly SyntaxNode[] {
  if (node.type === 'IfStatement') return throwsAtOnce(node) ? comparison(child(node, 'test')) : []
  if (node.type !== 'CallExpression') return []
  const callee = child(node, 'callee')
  const name = nameOf(callee?.type === 'MemberExpression' ? child(callee, 'object') : callee)
  if (name === 'assert') return children(node, 'arguments').slice(0, 2)
  if (name !== 'expect') return []
  const [value] = children(node, 'arguments')
  let [chain, parent] = [node, tree.parentOf(node)]
  let expected: readonly SyntaxNode[] = []
  while (parent !== undefined && (child(parent, 'object') === chain || child(parent, 'callee') === chain)) {
    if (parent.type === 'CallExpression') expected = [...expected, ...children(parent, 'arguments')]
    chain = parent
    parent = tree.parentOf(parent)
  }
  return value === undefined ? expected : [value, ...expected]
}

const comparison = (test: SyntaxNode | undefined): readonly SyntaxNode[] =>
  test !== undefined && /^[<>]=?$/.test(String(test['operator'])) ? [test] : []

function throwsAtOnce(node: SyntaxNode): boolean {
  const consequent = child(node, 'consequent')
  const [first = consequent] = consequent === undefined ? [] : children(consequent, 'body')
  return first?.type === 'ThrowStatement'
}

/** Calls that pass a clock value to a parameter that the called function asserts. */
function assertedParameters(
  paths: readonly string[],
  values: ClockValues,
  direct: readonly Assertion[],
): Assertion[] {
  const asserted = new Set(direct.flatMap(({ origins }) => [...origins]))
  const found: Assertion[] = []
  const calls = paths.flatMap((path) =>
    values
      .treeOf(path)
      .nodes.filter(({ type }) => type === 'CallExpression')
      .flatMap((node) =>
        values
          .readerOf(path)
          .matched(node)
          .map(({ parameter, value }) => ({
            path,
            node,
            parameter,
            origins: values.readerOf(path).deep(value),
          })),
      )
      .filter(({ origins }) => origins.size > 0),
  )
  for (let known = -1; known < asserted.size; ) {
    known = asserted.size
    for (const call of calls) {
      if (!asserted.has(call.parameter)) continue
      for (const origin of call.origins) asserted.add(origin)
      found.push(call)
    }
  }
  return found
}

/** Returns whether the clock is virtual at an assertion. */
function virtualTime(tree: SyntaxTree): (node: SyntaxNode) => boolean {
  const isInstalled = tree.nodes.some(
    (node) =>
      node.type === 'ImportDeclaration' &&
      /(?:^|\/)time\/virtual-time(?:\.ts)?$|^\.\/virtual-time\.ts$/.test(
        String(child(node, 'source')?.['value']),
      ),
  )
  if (isInstalled) return () => true
  const realms = tree.nodes.filter(fakesTheClock).map((node) => testAround(node, tree))
  return (node) => realms.some((realm) => node.start >= realm.start && node.end <= realm.end)
}

/** True for `vi.useFakeTimers()`, unless it names the faked functions and no clock is among them. */
function fakesTheClock(node: SyntaxNode): boolean {
  const callee = child(node, 'callee')
  if (node.type !== 'CallExpression' || callee === undefined || keyOf(callee) !== 'useFakeTimers')
    return false
  const [options] = children(node, 'arguments')
  const names =
    options === undefined ? undefined : children(options, 'properties').find((one) => keyOf(one) === 'toFake')
  const list = names === undefined ? undefined : child(names, 'value')
  return (
    list === undefined ||
    children(list, 'elements').some(({ value }) => value === 'performance' || value === 'Date')
  )
}

/** The test whose body contains the node; the whole file if it is in a hook or a helper. */
function testAround(node: SyntaxNode, tree: SyntaxTree): SyntaxNode {
  for (let at = tree.parentOf(node); at !== undefined; at = tree.parentOf(at)) {
    if (at.type !== 'CallExpression' || !children(at, 'arguments').some(isFunction)) continue
    let callee = child(at, 'callee')
    while (callee !== undefined && nameOf(callee) === undefined)
      callee = child(callee, 'object') ?? child(callee, 'callee') ?? child(callee, 'tag')
    if (nameOf(callee) === 'test') return at
  }
  return tree.root
}
