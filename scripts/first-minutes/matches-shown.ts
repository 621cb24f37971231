// Compares the output of a command with the text in a document, line by line, column by column and word by word. Columns are
// separated by two or more spaces. `...` on a line of its own matches any number of lines, as a column of its own any columns, at the end of
// a line its rest, and elsewhere any text of one column. Times, durations, addresses, ids, hashes, versions and the choice of nodes are ignored, because they
// differ in each run. Empty lines are ignored too.

/** Matches lines that npm prints around a command; documents omit these lines. */
const NPM_LINE = /^(npm (warn|notice)\b|> )/

const VARIABLE_PARTS: readonly (readonly [RegExp, string])[] = [
  [/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>'],
  [/\b\d+\.\d+\.\d+\.\d+(:\d+)?\b/g, '<address>'],
  [/(?<![\d.A-Za-z])\d+\.\d+\.\d+(\+[a-z]+\d+)?(?!\.?\d)/g, '<version>'],
  [/\b[a-z]+_[0-9A-HJKMNP-TV-Z]{26}\b/g, '<id>'],
  [/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '<id>'],
  [/\b[0-9a-f]{12,64}\b/g, '<hash>'],
  // Right-aligned, so the width of what is in front of it varies.
  [/(^ +)?\b(\d+(\.\d+)? ?(ms|s|m|h))+\b/g, '<duration>'],
  [/\b\d+(?= +acme-\d)/g, '<replica>'],
  [/\b([Rr]eplica) \d+/g, '$1 <replica>'],
  [/\bacme-\d\b/g, '<node>'],
]
const COLUMN = '\t'
const GAP = /(?<=\S) {2,}/g

export function matchesShown(shown: readonly string[], printed: string): boolean {
  const pattern = linesOf(shown).map((line) =>
    line.trim() === '...' ? '(?:.*\\n)*?' : `${patternOf(line)}\\n`,
  )
  const text = linesOf(
    printed
      .split('\n')
      .map(lastWritten)
      .filter((line) => !NPM_LINE.test(line)),
  )
  return new RegExp(`^${pattern.join('')}$`).test(text.map((line) => `${line}\n`).join(''))
}

/** A terminal shows of a line only what was written last, for example the end of a progress. */
const lastWritten = (line: string): string => line.trimEnd().split('\r').at(-1) ?? ''

const linesOf = (lines: readonly string[]): string[] =>
  lines.map((line) => normalize(line.trimEnd())).filter((line) => line !== '')

const normalize = (line: string): string =>
  VARIABLE_PARTS.reduce((text, [pattern, placeholder]) => text.replace(pattern, placeholder), line).replace(
    GAP,
    COLUMN,
  )

function patternOf(line: string): string {
  const parts = line.split('...').map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  return parts.reduce((before, after) => before + cutBetween(before, after) + after)
}

/** The pattern of what is cut between two parts of a line. */
function cutBetween(before: string, after: string): string {
  const isColumn = (before === '' || before.endsWith(COLUMN)) && after.startsWith(COLUMN)
  return isColumn || after === '' ? '.*' : `[^${COLUMN}]*`
}
