// Measures, cuts and wraps text by the cells that it occupies on a terminal. Color codes have no width.

const WIDE =
  /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|\p{Extended_Pictographic}/u
const COMBINING = /\p{Mark}/u
const ESCAPE = '\u001b'
const STYLE = new RegExp(`(${ESCAPE}\\[\\d+m)`)
const ELLIPSIS = '…'

export function widthOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length
  let width = 0
  for (const character of text.replaceAll(new RegExp(STYLE, 'g'), '')) width += cellsOf(character)
  return width
}

const cellsOf = (character: string): number => (COMBINING.test(character) ? 0 : WIDE.test(character) ? 2 : 1)

/** Cuts a line to a width and marks the cut with an ellipsis. */
export function cutTo(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text
  let left = columns - 1
  let cut = ''
  for (const part of text.split(STYLE)) {
    if (STYLE.test(part)) cut += part
    else
      for (const character of part) {
        if (left < cellsOf(character))
          return `${cut}${ELLIPSIS}${text.includes(ESCAPE) ? `${ESCAPE}[0m` : ''}`
        left -= cellsOf(character)
        cut += character
      }
  }
  return cut
}

/** Wraps a text between words. A word longer than the line is not broken, so that users can copy the word. */
export function wrapWords(text: string, columns: number): string[] {
  if (widthOf(text) <= columns) return [text]
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`
    if (line === '' || widthOf(longer) <= columns) line = longer
    else {
      lines.push(line)
      line = word
    }
  }
  return [...lines, line]
}
