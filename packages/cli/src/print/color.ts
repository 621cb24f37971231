// Terminal colors. The text must contain all information, because color may be unavailable.

const CODES = { red: 31, green: 32, yellow: 33, blue: 34, gray: 90, bold: 1 } as const
export type Color = keyof typeof CODES

export const paint = (text: string, color: Color, wanted: boolean): string =>
  wanted ? `\u001b[${CODES[color]}m${text}\u001b[0m` : text

const BY_STATE: { readonly [state: string]: Color } = {
  Running: 'green',
  Ready: 'green',
  ready: 'green',
  current: 'green',
  created: 'green',
  running: 'green',
  succeeded: 'green',
  Pending: 'yellow',
  Waiting: 'yellow',
  Progressing: 'yellow',
  Materializing: 'yellow',
  Promoting: 'yellow',
  Resizing: 'yellow',
  Deleting: 'yellow',
  seeding: 'yellow',
  lagging: 'yellow',
  pending: 'yellow',
  assigned: 'yellow',
  pulling: 'yellow',
  starting: 'yellow',
  unreachable: 'yellow',
  configured: 'yellow',
  warning: 'yellow',
  Degraded: 'red',
  degraded: 'yellow',
  Lost: 'red',
  missing: 'red',
  restarting: 'red',
  failed: 'red',
  lost: 'red',
  error: 'red',
  cancelled: 'gray',
  Stopped: 'gray',
  stopped: 'gray',
  unchanged: 'gray',
}

/** The color of a state; undefined if the state is neither good nor bad. */
export const colorOf = (state: string): Color | undefined => BY_STATE[state]

export function paintState(state: string, wanted: boolean): string {
  const color = colorOf(state)
  return color === undefined ? state : paint(state, color, wanted)
}
