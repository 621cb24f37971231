// Finds the imports of a TypeScript file, and its code without comments, strings and patterns. TypeScript 7 has no
// compiler API, so this is a small scanner that knows tokens, not grammar.

type TokenKind = 'comment' | 'string' | 'template' | 'pattern' | 'word' | 'mark' | 'space'

export interface Token {
  readonly kind: TokenKind
  readonly text: string
  readonly line: number
}

export interface ImportFound {
  readonly specifier: string
  readonly line: number
}

export interface ScannedSource {
  readonly imports: readonly ImportFound[]
  /**
   * The source text with comments, strings, template text and patterns replaced by spaces; lines and columns are kept.
   */
  readonly code: string
  readonly comments: readonly Token[]
  /** String literals and the text parts of templates, with their quotes. */
  readonly strings: readonly Token[]
  /** Regular expression literals as written, with slashes and flags. */
  readonly patterns: readonly Token[]
}

export function scanSource(source: string): ScannedSource {
  const tokens = tokenize(source)
  return {
    imports: findImports(tokens.filter(({ kind }) => kind !== 'comment' && kind !== 'space')),
    code: tokens.map(blanked).join(''),
    comments: tokens.filter(({ kind }) => kind === 'comment'),
    strings: tokens.filter(({ kind }) => kind === 'string' || kind === 'template'),
    patterns: tokens.filter(({ kind }) => kind === 'pattern'),
  }
}

const BLANKED: ReadonlySet<TokenKind> = new Set(['comment', 'string', 'template', 'pattern'])
const blanked = ({ kind, text }: Token): string => (BLANKED.has(kind) ? text.replace(/[^\n]/g, ' ') : text)

const TEMPLATE_REST = String.raw`(?:\\[\s\S]|\$(?!\{)|[^${'`'}\\$])*(?:${'`'}|\$\{|$)`
const FORMS: readonly (readonly [TokenKind, RegExp])[] = [
  ['space', /\s+/y],
  ['comment', /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/y],
  ['string', /'(?:\\[\s\S]|[^'\\\n])*'?|"(?:\\[\s\S]|[^"\\\n])*"?/y],
  ['template', new RegExp(`\`${TEMPLATE_REST}`, 'y')],
  ['word', /[\w$\u0080-\uffff]+/y],
  ['pattern', /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/\w*/y],
  ['mark', /=>|[\s\S]/y],
]
const TEMPLATE_CONTINUED = new RegExp(`\\}${TEMPLATE_REST}`, 'y')

function tokenize(source: string): Token[] {
  const tokens: Token[] = []
  // For each open `${` of a template string, the number of open braces inside it.
  const templates: number[] = []
  let previous: Token | undefined
  for (let at = 0, line = 1; at < source.length; ) {
    const token = { ...nextToken(source, at, templates.at(-1) === 0, previous), line }
    tokens.push(token)
    trackBraces(templates, token)
    if (token.kind !== 'space' && token.kind !== 'comment') previous = token
    at += token.text.length
    line += token.text.split('\n').length - 1
  }
  return tokens
}

function nextToken(source: string, at: number, closes: boolean, previous: Token | undefined) {
  if (closes && source[at] === '}')
    return { kind: 'template' as const, text: matchAt(TEMPLATE_CONTINUED, source, at) }
  for (const [kind, form] of FORMS) {
    if (kind === 'pattern' && (!patternMayFollow(previous) || source[at + 1] === '>')) continue
    const text = matchAt(form, source, at)
    if (text !== '') return { kind, text }
  }
  throw new Error(`unknown token at ${at}`)
}

function matchAt(form: RegExp, source: string, at: number): string {
  form.lastIndex = at
  return form.exec(source)?.[0] ?? ''
}

function trackBraces(templates: number[], { kind, text }: Token): void {
  if (kind === 'template') {
    if (text.startsWith('}')) templates.pop()
    if (text.endsWith('${')) templates.push(0)
    return
  }
  const depth = templates.at(-1)
  if (depth === undefined || kind !== 'mark') return
  if (text === '{') templates[templates.length - 1] = depth + 1
  if (text === '}') templates[templates.length - 1] = depth - 1
}

const BEFORE_PATTERN = new Set([
  'return',
  'typeof',
  'case',
  'in',
  'of',
  'do',
  'else',
  'void',
  'throw',
  'await',
  'yield',
])

/**
 * True if a slash after this token begins a regular expression. A slash after a value is a division instead, and `</` and
 * `/>` close an element of JSX.
 */
function patternMayFollow(previous: Token | undefined): boolean {
  if (previous === undefined) return true
  if (previous.kind === 'word') return BEFORE_PATTERN.has(previous.text)
  return previous.kind === 'mark' && ![')', ']', '<'].includes(previous.text)
}

function findImports(tokens: readonly Token[]): ImportFound[] {
  return tokens.flatMap((token, index) => {
    if (token.kind !== 'word' || tokens[index - 1]?.text === '.') return []
    const rest = tokens.slice(index + 1, index + 3)
    const specifier =
      token.text === 'import' ? (directImport(rest) ?? fromClause(tokens, index + 1)) : undefined
    const found = token.text === 'export' ? fromClause(tokens, index + 1) : specifier
    return found === undefined ? [] : [{ specifier: found.text.slice(1, -1), line: token.line }]
  })
}

/** The module name in `import 'x'` or `import('x')`. */
function directImport([first, second]: readonly Token[]): Token | undefined {
  if (first?.kind === 'string') return first
  return first?.text === '(' && (second?.kind === 'string' || second?.kind === 'template')
    ? second
    : undefined
}

/** The module name after `from`, if only an import or export clause precedes `from`. */
function fromClause(tokens: readonly Token[], start: number): Token | undefined {
  for (let index = start; index < tokens.length; index += 1) {
    const token = tokens[index]
    const next = tokens[index + 1]
    if (token?.kind === 'word' && token.text === 'from' && next?.kind === 'string') return next
    // A name in an import or export clause may itself be a string: `export { a as 'b' } from 'c'`.
    if (token?.kind !== 'word' && token?.kind !== 'string' && !'{},*'.includes(token?.text ?? ';'))
      return undefined
  }
  return undefined
}
