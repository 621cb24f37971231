// Converts the scalars of a Compose file: whole numbers, booleans, durations such as 1m30s, and sizes such as 512m.

const WHOLE = /^[0-9]{1,15}$/
const TRUE = /^(?:true|yes|on|y)$/i
const FALSE = /^(?:false|no|off|n)$/i

export const wholeOf = (text: string | undefined): number | undefined =>
  text !== undefined && WHOLE.test(text) ? Number(text) : undefined

export function booleanOf(text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined
  if (TRUE.test(text)) return true
  return FALSE.test(text) ? false : undefined
}

const DURATION = /^(?:[0-9]{1,9}(?:\.[0-9]{1,9})?(?:h|ms|m|us|s))+$/
const PART = /([0-9]+(?:\.[0-9]+)?)(h|ms|m|us|s)/g
const UNIT_MS: { readonly [unit: string]: number } = { h: 3_600_000, m: 60_000, s: 1000, ms: 1, us: 0.001 }

/** The milliseconds of a duration; undefined for another text. */
export function durationOf(text: string | undefined): number | undefined {
  if (text === undefined || text.length > 64 || !DURATION.test(text)) return undefined
  const parts = [...text.matchAll(PART)].map(
    ([, amount, unit]) => Number(amount) * (UNIT_MS[unit ?? ''] ?? 0),
  )
  return Math.ceil(parts.reduce((sum, part) => sum + part, 0))
}

/** A duration in the form of a manifest: one whole number with one unit. */
export function durationText(ms: number): string {
  if (ms % 1000 !== 0) return `${ms}ms`
  const seconds = ms / 1000
  if (seconds > 0 && seconds % 3600 === 0) return `${seconds / 3600}h`
  return seconds > 0 && seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`
}

const SIZE = /^([0-9]{1,15})(?:\.([0-9]{1,6}))?\s?(b|k|kb|kib|m|mb|mib|g|gb|gib|t|tb|tib)?$/i
const POWERS = 'bkmgt'

/** The bytes of a size. All units of Compose are powers of 1024. */
export function bytesOf(text: string | undefined): number | undefined {
  const [, whole, decimals = '', unit = 'b'] = SIZE.exec(text ?? '') ?? []
  if (whole === undefined) return undefined
  const scale = 1024 ** POWERS.indexOf(unit[0]?.toLowerCase() ?? 'b')
  const bytes = Number(`${whole}.${decimals || '0'}`) * scale
  return Number.isSafeInteger(Math.ceil(bytes)) ? Math.ceil(bytes) : undefined
}

const CPUS = /^([0-9]{0,6})(?:\.([0-9]{1,9}))?$/

/** Thousandths of a core, rounded up; undefined for another text. */
export function millisOf(text: string | undefined): number | undefined {
  if (text === undefined || text === '' || text === '.' || !CPUS.test(text)) return undefined
  const nanos = Math.round(Number(text) * 1e9)
  return Math.ceil(nanos / 1e6)
}
