// What comes from elsewhere may hold whatever steers a terminal. It is shown as text.

/** Controls, what takes no room, and what turns the reading direction: as first and last of each range. */
const STEERING_RANGES = [
  ['0000', '001f'],
  ['007f', '009f'],
  ['200b', '200f'],
  ['2028', '202e'],
  ['2060', '2069'],
  ['feff', 'feff'],
] as const

const STEERING = new RegExp(
  `[${STEERING_RANGES.map(([first, last]) => `\\u${first}-\\u${last}`).join('')}]`,
  'g',
)

/** On one line. */
export function plain(text: string): string {
  return text.replace(STEERING, (unit) => (unit === '\n' ? ' ' : escaped(unit)))
}

/** With its line breaks and tabs. */
export function plainLines(text: string): string {
  return text.replace(STEERING, (unit) => (unit === '\n' || unit === '\t' ? unit : escaped(unit)))
}

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
