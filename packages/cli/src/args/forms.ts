// Forms that a value on the command line may have to have. What breaks one is a wrong use and never reaches the platform.

export interface Form {
  /** Completes "must be ...". */
  readonly expected: string
  test(text: string): boolean
}

export const WHOLE_NUMBER: Form = { expected: 'a whole number', test: (text) => /^\d{1,9}$/.test(text) }
export const POSITIVE_NUMBER: Form = {
  expected: 'a whole number from 1',
  test: (text) => /^[1-9]\d{0,8}$/.test(text),
}
export const PAGE_SIZE: Form = {
  expected: 'a whole number from 1 to 500',
  test: (text) => /^[1-9]\d{0,2}$/.test(text) && Number(text) <= 500,
}
export const DURATION: Form = {
  expected: 'a duration such as 30s, 5m or 1h',
  test: (text) => durationSeconds(text) !== undefined,
}
export const POINT_IN_TIME: Form = {
  expected: 'a time such as 2026-01-31T12:00:00Z, or how long ago: 10m',
  test: (text) => durationSeconds(text) !== undefined || !Number.isNaN(Date.parse(text)),
}
export const HTTP_URL: Form = {
  expected: 'an address such as https://holdfast.example',
  test: (text) => /^https?:\/\/[^/?#@]+\/?$/.test(text) && URL.canParse(text),
}

const UNITS: { readonly [unit: string]: number } = { s: 1, m: 60, h: 3600, d: 86_400 }

export function durationSeconds(text: string): number | undefined {
  const [, number, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  const seconds = UNITS[unit ?? '']
  return seconds === undefined ? undefined : Number(number) * seconds
}

/** `10m` is ten minutes before now; a time stays what it is. */
export function pointInTime(text: string, nowMs: number): string {
  const seconds = durationSeconds(text)
  return new Date(seconds === undefined ? Date.parse(text) : nowMs - seconds * 1000).toISOString()
}
