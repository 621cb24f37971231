// Escapes control characters in text from servers and containers, so that such text cannot control the terminal.

/** Ranges of code points that are escaped: control, zero-width and bidirectional characters. */
const CONTROL_RANGES = [
  ['0000', '001f'],
  ['007f', '009f'],
  ['200b', '200f'],
  ['2028', '202e'],
  ['2060', '2069'],
  ['feff', 'feff'],
] as const

const CONTROL = new RegExp(
  `[${CONTROL_RANGES.map(([first, last]) => `\\u${first}-\\u${last}`).join('')}]`,
  'g',
)

/** Escapes a text for one line: line breaks become spaces. */
export function plain(text: string): string {
  return text.replace(CONTROL, (unit) => (unit === '\n' ? ' ' : escaped(unit)))
}

/** Escapes a text but keeps its line breaks and tabs. */
export function plainLines(text: string): string {
  return text.replace(CONTROL, (unit) => (unit === '\n' || unit === '\t' ? unit : escaped(unit)))
}

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
