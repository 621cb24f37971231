// Formats of option values. A value in the wrong format is a usage error and is never sent to the platform.

export interface Form {
  /** Description of the accepted format. It completes the sentence "It must be ...". */
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
/** Durations of the API, which has no days. */
export const RUN_DURATION: Form = {
  expected: 'a duration such as 30s, 15m or 48h',
  test: (text) => /^\d{1,9}(?:ms|s|m|h)$/.test(text),
}
export const POINT_IN_TIME: Form = {
  expected: 'a time such as 2026-01-31T12:00:00Z, or a duration before now such as 10m',
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

/** Converts `10m` to the time ten minutes ago; an absolute time is only normalized. */
export function pointInTime(text: string, nowMs: number): string {
  const seconds = durationSeconds(text)
  return new Date(seconds === undefined ? Date.parse(text) : nowMs - seconds * 1000).toISOString()
}

/** Converts the value of an option, whose format was already checked, to a number; undefined if the option is absent. */
export const numberOf = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Number(text)
