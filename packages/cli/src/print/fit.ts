// Text and the room for it, in terminal cells. Colours take none.

const WIDE =
  /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|\p{Extended_Pictographic}/u
const COMBINING = /\p{Mark}/u
const ESCAPE = '\u001b'
const STYLE = new RegExp(`(${ESCAPE}\\[\\d+m)`)
const MORE = '…'

export function widthOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length
  let width = 0
  for (const character of text.replaceAll(new RegExp(STYLE, 'g'), '')) width += cellsOf(character)
  return width
}

const cellsOf = (character: string): number => (COMBINING.test(character) ? 0 : WIDE.test(character) ? 2 : 1)

/** On one line, whose end says where something is missing. */
export function cutTo(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text
  let left = columns - 1
  let cut = ''
  for (const part of text.split(STYLE)) {
    if (STYLE.test(part)) cut += part
    else
      for (const character of part) {
        if (left < cellsOf(character)) return `${cut}${MORE}${text.includes(ESCAPE) ? `${ESCAPE}[0m` : ''}`
        left -= cellsOf(character)
        cut += character
      }
  }
  return cut
}

/** Broken between words. A word that is longer than a line stays whole: it may be copied from there. */
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
