// Makes text safe for logs and terminals. Line breaks, escape sequences, invisible characters and those that change the
// reading direction are written as JSON escapes, so nothing is lost.

type Range = readonly [first: number, last: number]

const CONTROLS: Range = [0x00, 0x1f]
const UNPRINTABLE: readonly Range[] = [
  [0x7f, 0x9f],
  [0xad, 0xad],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x180b, 0x180f],
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfffb],
  // Surrogates, each of which is half of a character. isShown keeps the halves of visible characters.
  [0xd800, 0xdfff],
]
const ALL = unitsIn([CONTROLS, ...UNPRINTABLE])
const ALL_BUT_CONTROLS = unitsIn(UNPRINTABLE)

function unitsIn(ranges: readonly Range[]): RegExp {
  return new RegExp(
    `[${ranges.map(([first, last]) => `${unicodeEscape(first)}-${unicodeEscape(last)}`).join('')}]`,
    'g',
  )
}

function unicodeEscape(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`
}

/** Escapes unprintable characters. Backslashes are not escaped, because the text is for people and not for parsers. */
export function printable(text: string): string {
  return replaceHidden(text, ALL)
}

/** Makes a map key printable for `childPath`, which escapes control characters itself. */
export function printableKey(key: string): string {
  return replaceHidden(key, ALL_BUT_CONTROLS)
}

function replaceHidden(text: string, hidden: RegExp): string {
  return text.replace(hidden, (unit, at: number) => (isShown(text, at) ? unit : escapeUnit(unit)))
}

const SHORT_ESCAPES = new Map([
  ['\t', '\\t'],
  ['\n', '\\n'],
  ['\r', '\\r'],
])

function escapeUnit(unit: string): string {
  return SHORT_ESCAPES.get(unit) ?? unicodeEscape(unit.charCodeAt(0))
}

/** Whether a surrogate is half of a visible character. Unicode plane 14 contains only invisible characters. */
function isShown(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  const point = text.codePointAt(code >= 0xdc00 && code <= 0xdfff ? at - 1 : at) ?? 0
  return point > 0xffff && point < 0xe0000
}
