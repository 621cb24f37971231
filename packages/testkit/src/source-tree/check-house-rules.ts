// Checks size and type rules: files and functions are small, and no comment or cast silences the type checker.

import { scanSource } from './scan-source.ts'
import { isTest, type SourceTree, type Violation } from './source-tree.ts'

const FILE_LINES = 400
const FUNCTION_LINES = 70

export function checkHouseRules(tree: SourceTree): Violation[] {
  return [...tree].flatMap(([path, source]) => {
    const { code, comments } = scanSource(source)
    const silenced = comments
      .filter(({ text }) => /@ts-(?:ignore|nocheck)/.test(text))
      .map(({ line }) => ({ path, line, what: 'silences the type checker' }))
    return [...silenced, ...checkAny(path, code), ...(isTest(path) ? [] : checkSizes(path, code))]
  })
}

function checkAny(path: string, code: string): Violation[] {
  return [...code.matchAll(/\bas\s+any\b/g)].map(({ index }) => ({
    path,
    line: lineAt(code, index),
    what: 'casts to any',
  }))
}

function checkSizes(path: string, code: string): Violation[] {
  const lines = code.trimEnd().split('\n').length
  const tooLong =
    lines > FILE_LINES ? [{ path, line: 1, what: `has ${lines} lines, at most ${FILE_LINES}` }] : []
  const functions = measureFunctions(code)
    .filter(({ lines }) => lines > FUNCTION_LINES)
    .map(({ line, lines }) => ({
      path,
      line,
      what: `a function of ${lines} lines, at most ${FUNCTION_LINES}`,
    }))
  return [...tooLong, ...functions]
}

interface MeasuredFunction {
  readonly line: number
  readonly lines: number
}

/**
 * Finds and measures the bodies in braces of functions, methods and arrow functions. A block after a control keyword is
 * not a function.
 */
function measureFunctions(code: string): MeasuredFunction[] {
  const opened: number[] = []
  const found: MeasuredFunction[] = []
  for (let at = 0; at < code.length; at += 1) {
    if (code[at] === '{') opened.push(at)
    if (code[at] !== '}') continue
    const start = opened.pop()
    if (start === undefined || !opensFunction(code, start)) continue
    const line = lineAt(code, start)
    found.push({ line, lines: lineAt(code, at) - line + 1 })
  }
  return found
}

const CONTROL = /(?:^|[^.\w$])(?:if|for|while|switch|catch|with|await)\s*$/
const NO_TYPE =
  /[;]|(?<!=)=(?!>)|\b(?:else|try|do|finally|class|interface|return|export|import|const|let|function)\b/

function opensFunction(code: string, brace: number): boolean {
  const before = code.slice(Math.max(0, brace - 2_000), brace).trimEnd()
  if (before.endsWith('=>')) return true
  if (before.endsWith(')')) return closesParameters(before, before.length - 1)
  // If the brace does not follow the parameters directly, it opens a function only after a return type.
  const closing = Math.max(...[...before.matchAll(/\)\s*:/g)].map(({ index }) => index), -1)
  const type = before.slice(closing + 1)
  return closing >= 0 && /[^:|&<,(]$/.test(type) && isType(type) && closesParameters(before, closing)
}

const isType = (text: string): boolean =>
  !NO_TYPE.test(text) && text.split('{').length === text.split('}').length

/**
 * True if the parenthesis closes parameters, which follow a name, a type parameter or `function`, never a control
 * keyword.
 */
function closesParameters(before: string, closing: number): boolean {
  const opening = matchingParenthesis(before, closing)
  if (opening === undefined) return false
  const prefix = before.slice(0, opening)
  return /[\w$>\]]\s*$/.test(prefix) && !CONTROL.test(prefix)
}

function matchingParenthesis(text: string, closing: number): number | undefined {
  let depth = 0
  for (let at = closing; at >= 0; at -= 1) {
    if (text[at] === ')') depth += 1
    if (text[at] === '(') depth -= 1
    if (depth === 0) return at
  }
  return undefined
}

const lineAt = (text: string, position: number): number => text.slice(0, position).split('\n').length
