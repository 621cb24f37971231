// The table of measured values with their limits.

export interface Row {
  readonly what: string
  readonly value: number
  readonly unit: string
  /** The most that the value may be; absent: the value is only shown. */
  readonly limit?: number
}

const DIGITS: { readonly [unit: string]: number } = { ms: 0, kB: 1, '%': 1, '': 3 }

const shown = (value: number, unit: string): string => `${value.toFixed(DIGITS[unit] ?? 0)} ${unit}`.trim()

export const isMissed = ({ value, limit }: Row): boolean => limit !== undefined && !(value <= limit)

export function printRow(row: Row): void {
  const { what, value, unit, limit } = row
  const verdict =
    limit === undefined ? '' : `at most ${shown(limit, unit)}: ${isMissed(row) ? 'NOT REACHED' : 'reached'}`
  console.log(`  ${what.padEnd(56)} ${shown(value, unit).padStart(10)}  ${verdict}`.trimEnd())
}
