// Numbers, times and amounts as people read them. Local time; the exact time in UTC is for the tooltip.

const NUMBER = new Intl.NumberFormat('en')
const DECIMAL = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })
const PLURALS = new Intl.PluralRules('en')
const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const DAY_AND_CLOCK = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
})

export const formatNumber = (value: number): string => NUMBER.format(value)

/** A count with its noun: `1 node`, `3 nodes`. */
export function formatCount(count: number, one: string, other = `${one}s`): string {
  return `${NUMBER.format(count)} ${PLURALS.select(count) === 'one' ? one : other}`
}

/** The clock time of today, or day and time of another day. */
export function formatTime(iso: string, nowMs: number): string {
  const at = new Date(iso)
  if (Number.isNaN(at.getTime())) return iso
  const sameDay = at.toDateString() === new Date(nowMs).toDateString()
  return (sameDay ? CLOCK : DAY_AND_CLOCK).format(at)
}

export function formatUtc(iso: string): string {
  const at = new Date(iso)
  return Number.isNaN(at.getTime()) ? iso : `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

const UNITS = [
  { seconds: 86_400, word: 'd' },
  { seconds: 3_600, word: 'h' },
  { seconds: 60, word: 'min' },
] as const

/** A length of time in its largest unit: `72 s`, `6 min`, `2 d`. Below two of a unit, the smaller unit is exact enough. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  const unit = UNITS.find((each) => seconds >= each.seconds * 2)
  return unit === undefined ? `${seconds} s` : `${Math.floor(seconds / unit.seconds)} ${unit.word}`
}

export const formatAge = (iso: string, nowMs: number): string => formatDuration(nowMs - Date.parse(iso))

const BYTES = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const

export function formatBytes(bytes: number): string {
  let [value, at] = [bytes, 0]
  while (Math.abs(value) >= 1024 && at < BYTES.length - 1) {
    value /= 1024
    at += 1
  }
  return `${DECIMAL.format(value)} ${BYTES[at]}`
}

export const formatCpu = (millis: number): string => `${DECIMAL.format(millis / 1000)} CPU`
