// Compares the output of a command with the text in a document, line by line. `...` matches any text within a line, or
// any number of lines. Addresses, ids, times and the choice of nodes are ignored, because they differ in each run.

/** Matches lines that npm prints around a command; documents omit these lines. */
const NPM_LINE = /^(npm (warn|notice)\b|> )/

const VARIABLE_PARTS: readonly (readonly [RegExp, string])[] = [
  [/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>'],
  [/\b\d+\.\d+\.\d+\.\d+(:\d+)?\b/g, '<address>'],
  [/\b[a-z]+_[0-9A-HJKMNP-TV-Z]{26}\b/g, '<id>'],
  [/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '<id>'],
  [/\b[0-9a-f]{12,64}\b/g, '<hash>'],
  [/\b(\d+(\.\d+)? ?(ms|s|m|h))+\b/g, '<duration>'],
  [/\b\d+(?= +acme-\d)/g, '<replica>'],
  [/\b([Rr]eplica) \d+/g, '$1 <replica>'],
  [/\bacme-\d\b/g, '<node>'],
  [/ +/g, ' '],
]

export function matchesShown(shown: readonly string[], printed: string): boolean {
  const pattern = linesOf(shown).map((line) => (line === '...' ? '(?:.*\\n)*?' : `${patternOf(line)}\\n`))
  const text = linesOf(printed.split('\n').filter((line) => !NPM_LINE.test(line)))
  return new RegExp(`^${pattern.join('')}$`).test(text.map((line) => `${line}\n`).join(''))
}

const linesOf = (lines: readonly string[]): string[] =>
  lines.map((line) => normalize(line.trim())).filter((line) => line !== '')

const normalize = (line: string): string =>
  VARIABLE_PARTS.reduce((text, [pattern, placeholder]) => text.replace(pattern, placeholder), line)

const patternOf = (line: string): string =>
  line
    .split('...')
    .map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
    .join('.*')
