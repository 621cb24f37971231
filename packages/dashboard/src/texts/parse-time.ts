// A time that a person typed: a clock time of the last 24 hours, a date with a time, or an age.

const AGE = /^(\d{1,6})\s*(s|m|min|h|d)$/
const CLOCK = /^(\d{1,2}):(\d{2})(?::(\d{2}))?$/
const DATE = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?Z?$/
const SECONDS: { readonly [unit: string]: number } = { s: 1, m: 60, min: 60, h: 3_600, d: 86_400 }
const DAY_MS = 86_400_000

/** Returns the time as an ISO text in UTC; undefined if the text is no time, or lies in the future. */
export function parseTime(text: string, nowMs: number): string | undefined {
  const typed = text.trim()
  const at = readAge(typed, nowMs) ?? readClock(typed, nowMs) ?? readDate(typed)
  return at === undefined || Number.isNaN(at) || at > nowMs ? undefined : new Date(at).toISOString()
}

function readAge(text: string, nowMs: number): number | undefined {
  const [, count, unit = ''] = AGE.exec(text) ?? []
  return count === undefined ? undefined : nowMs - Number(count) * (SECONDS[unit] ?? 0) * 1000
}

/** A clock time that is still to come today means yesterday. */
function readClock(text: string, nowMs: number): number | undefined {
  const [, hours, minutes, seconds = '0'] = CLOCK.exec(text) ?? []
  if (hours === undefined || minutes === undefined) return undefined
  const [h, m, s] = [Number(hours), Number(minutes), Number(seconds)]
  if (h > 23 || m > 59 || s > 59) return undefined
  const at = new Date(nowMs).setHours(h, m, s, 0)
  return at > nowMs ? at - DAY_MS : at
}

const readDate = (text: string): number | undefined => (DATE.test(text) ? Date.parse(text) : undefined)
