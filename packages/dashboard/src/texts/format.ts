// Numbers, times and amounts as people read them. Local time; the exact time in UTC is for the tooltip.

// The browser's own formats for numbers and times take a tenth of a second to create on a slow machine, before the first
// paint, so the few forms of the dashboard are written here.

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** With at most one decimal place, and commas between thousands. */
export function formatNumber(value: number): string {
  const [whole = '', decimal] = String(Math.round(value * 10) / 10).split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  return decimal === undefined ? grouped : `${grouped}.${decimal}`
}

/** A count with its noun: `1 node`, `3 nodes`. */
export function formatCount(count: number, one: string, other = `${one}s`): string {
  return `${formatNumber(count)} ${count === 1 ? one : other}`
}

/** The clock time of today, or day and time of another day. */
export function formatTime(iso: string, nowMs: number): string {
  const at = new Date(iso)
  if (Number.isNaN(at.getTime())) return iso
  const clock = `${twoDigits(at.getHours())}:${twoDigits(at.getMinutes())}`
  const sameDay = at.toDateString() === new Date(nowMs).toDateString()
  if (sameDay) return `${clock}:${twoDigits(at.getSeconds())}`
  return `${at.getDate()} ${MONTHS[at.getMonth()]}, ${clock}`
}

const twoDigits = (value: number): string => String(value).padStart(2, '0')

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
  return `${formatNumber(value)} ${BYTES[at]}`
}

export const formatCpu = (millis: number): string => `${formatNumber(millis / 1000)} CPU`
