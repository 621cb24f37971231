// Replaces variables in a text by the rules of Compose: $NAME, ${NAME}, the operators - ? + with and without a colon,
// nested operands, and $$ for a dollar sign. Everything else after a dollar sign stays as it is.

/** The value of a variable; undefined if it is not set. */
export type Lookup = (name: string) => string | undefined

export interface Interpolated {
  readonly text: string
  /** Names of all variables that the text refers to. */
  readonly variables: readonly string[]
  /** Names of variables that have neither a value nor a default. They are replaced by nothing. */
  readonly unset: readonly string[]
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*/
const OPERATOR = /^:?[-?+]/
/** Nested operands beyond this depth stay as they are, so that no text exhausts the stack. */
const MOST_DEPTH = 16

export function interpolate(text: string, lookup: Lookup, depth = 0): Interpolated {
  if (!text.includes('$')) return { text, variables: [], unset: [] }
  const variables: string[] = []
  const unset: string[] = []
  const parts: string[] = []
  let at = 0
  while (at < text.length) {
    const dollar = text.indexOf('$', at)
    if (dollar === -1) break
    parts.push(text.slice(at, dollar))
    const found = reference(text, dollar, lookup, depth)
    parts.push(found.text)
    variables.push(...found.variables)
    unset.push(...found.unset)
    at = found.end
  }
  return { text: parts.join('') + text.slice(at), variables, unset }
}

interface Found extends Interpolated {
  readonly end: number
}

const literal = (text: string, end: number): Found => ({ text, end, variables: [], unset: [] })

function reference(text: string, dollar: number, lookup: Lookup, depth: number): Found {
  const rest = text.slice(dollar + 1, dollar + 1 + 256)
  if (rest.startsWith('$')) return literal('$', dollar + 2)
  if (rest.startsWith('{')) return braced(text, dollar, lookup, depth)
  const name = NAME.exec(rest)?.[0]
  if (name === undefined) return literal('$', dollar + 1)
  const value = lookup(name)
  return {
    text: value ?? '',
    end: dollar + 1 + name.length,
    variables: [name],
    unset: value === undefined ? [name] : [],
  }
}

function braced(text: string, dollar: number, lookup: Lookup, depth: number): Found {
  const close = depth > MOST_DEPTH ? -1 : closingBrace(text, dollar + 2)
  const inside = close === -1 ? '' : text.slice(dollar + 2, close)
  const name = NAME.exec(inside)?.[0]
  const rest = inside.slice(name?.length ?? 0)
  const operator = OPERATOR.exec(rest)?.[0] ?? ''
  if (name === undefined || (rest !== '' && operator === '')) return literal('$', dollar + 1)
  return { ...resolve(name, operator, rest.slice(operator.length), lookup, depth), end: close + 1 }
}

function resolve(
  name: string,
  operator: string,
  operand: string,
  lookup: Lookup,
  depth: number,
): Interpolated {
  const value = lookup(name)
  const isGiven = value !== undefined && (value !== '' || !operator.startsWith(':'))
  const own = { variables: [name], unset: [] }
  if (operator.endsWith('-')) return isGiven ? { ...own, text: value } : nested(name, operand, lookup, depth)
  if (operator.endsWith('+')) return isGiven ? nested(name, operand, lookup, depth) : { ...own, text: '' }
  const isMissing = operator === '' ? value === undefined : !isGiven
  return { ...own, text: value ?? '', unset: isMissing ? [name] : [] }
}

function nested(name: string, operand: string, lookup: Lookup, depth: number): Interpolated {
  const inner = interpolate(operand, lookup, depth + 1)
  return { ...inner, variables: [name, ...inner.variables] }
}

/** A reference that is longer than this stays as it is, so that many open braces take no long time. */
const MOST_CHARACTERS = 4096

/** The brace that closes the one before `from`; -1 if there is none. */
function closingBrace(text: string, from: number): number {
  let depth = 1
  for (let at = from; at < Math.min(text.length, from + MOST_CHARACTERS); at += 1) {
    if (text[at] === '$' && text[at + 1] === '{') depth += 1
    if (text[at] === '}') depth -= 1
    if (depth === 0) return at
  }
  return -1
}
