// Splits a command line into words as Compose does: by the quoting rules of a shell, without a shell. Undefined if a
// quote is not closed.

export function splitWords(line: string): string[] | undefined {
  const words: string[] = []
  let word: string | undefined
  for (let at = 0; at < line.length; at += 1) {
    const unit = line[at] ?? ''
    if (/\s/.test(unit)) {
      if (word !== undefined) words.push(word)
      word = undefined
      continue
    }
    const part = partAt(line, at)
    if (part === undefined) return undefined
    word = (word ?? '') + part.text
    at = part.last
  }
  return word === undefined ? words : [...words, word]
}

interface Part {
  readonly text: string
  /** Position of the last character of the part. */
  readonly last: number
}

function partAt(line: string, at: number): Part | undefined {
  const unit = line[at] ?? ''
  if (unit === '\\') return at + 1 < line.length ? { text: line[at + 1] ?? '', last: at + 1 } : undefined
  if (unit === "'") {
    const close = line.indexOf("'", at + 1)
    return close === -1 ? undefined : { text: line.slice(at + 1, close), last: close }
  }
  return unit === '"' ? doubleQuoted(line, at) : { text: unit, last: at }
}

function doubleQuoted(line: string, open: number): Part | undefined {
  const inside = /^(?:[^"\\]|\\[\s\S])*/.exec(line.slice(open + 1))?.[0] ?? ''
  const close = open + 1 + inside.length
  if (line[close] !== '"') return undefined
  return { text: inside.replace(/\\(["\\$`])/g, '$1'), last: close }
}
