// Does a command print what the document says? Line by line; `...` stands for whatever is cut, within a line or for
// several of them. What differs from run to run does not count: addresses, ids, times, and which of the machines was taken.

/** What npm says by itself: documents leave it out. */
const OF_NPM = /^(npm (warn|notice)\b|> )/

const DIFFERS: readonly (readonly [RegExp, string])[] = [
  [/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>'],
  [/\b\d+\.\d+\.\d+\.\d+(:\d+)?\b/g, '<address>'],
  [/\b[a-z]+_[0-9A-HJKMNP-TV-Z]{26}\b/g, '<id>'],
  [/\b[0-9a-f]{12,64}\b/g, '<hash>'],
  [/\b(\d+(\.\d+)? ?(ms|s|m|h))+\b/g, '<duration>'],
  [/\b\d+(?= +acme-\d)/g, '<replica>'],
  [/\b([Rr]eplica) \d+/g, '$1 <replica>'],
  [/\bacme-\d\b/g, '<node>'],
  [/ +/g, ' '],
]

export function matchesShown(shown: readonly string[], printed: string): boolean {
  const pattern = linesOf(shown).map((line) => (line === '...' ? '(?:.*\\n)*?' : `${lineAs(line)}\\n`))
  const text = linesOf(printed.split('\n').filter((line) => !OF_NPM.test(line)))
  return new RegExp(`^${pattern.join('')}$`).test(text.map((line) => `${line}\n`).join(''))
}

const linesOf = (lines: readonly string[]): string[] =>
  lines.map((line) => withoutDifferences(line.trim())).filter((line) => line !== '')

const withoutDifferences = (line: string): string =>
  DIFFERS.reduce((text, [pattern, instead]) => text.replace(pattern, instead), line)

const lineAs = (line: string): string =>
  line
    .split('...')
    .map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
    .join('.*')
