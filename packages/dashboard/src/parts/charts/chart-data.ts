// The numbers behind charts: the rows of their tables, their summaries, and the lines of sparklines. A missing sample stays a
// gap.

export type Values = readonly (number | null)[]

export interface Series {
  readonly label: string
  readonly values: Values
}

export interface ChartWindow {
  /** Time of the first value in milliseconds. */
  readonly fromMs: number
  readonly stepMs: number
}

export interface TableRow {
  readonly atMs: number
  /** The mean of each series in the row's time; null without a sample. */
  readonly values: Values
}

const ROW_MS = 5 * 60_000

/** The mean of every five minutes, the newest first. */
export function tableRows({ fromMs, stepMs }: ChartWindow, series: readonly Series[]): TableRow[] {
  const size = Math.max(1, Math.round(ROW_MS / stepMs))
  const length = Math.max(0, ...series.map(({ values }) => values.length))
  const rows: TableRow[] = []
  for (let at = 0; at < length; at += size)
    rows.push({
      atMs: fromMs + at * stepMs,
      values: series.map(({ values }) => meanOf(values.slice(at, at + size))),
    })
  return rows.toReversed()
}

const known = (values: Values): number[] => values.filter((value) => value !== null)

function meanOf(values: Values): number | null {
  const numbers = known(values)
  return numbers.length === 0 ? null : numbers.reduce((sum, each) => sum + each, 0) / numbers.length
}

export interface Summary {
  readonly last: number | null
  readonly highest: number | null
}

export function summarize(values: Values): Summary {
  const numbers = known(values)
  return {
    last: numbers.at(-1) ?? null,
    highest: numbers.length === 0 ? null : Math.max(...numbers),
  }
}

/** The path of a sparkline of the given size, from zero at the bottom; a gap interrupts it. */
export function sparklinePath(values: Values, width: number, height: number, top?: number): string {
  const highest = Math.max(top ?? 0, summarize(values).highest ?? 0, Number.EPSILON)
  const across = width / Math.max(1, values.length - 1)
  let path = ''
  let drawing = false
  for (const [at, value] of values.entries()) {
    if (value !== null) {
      const y = height - (value / highest) * height
      path += `${drawing ? 'L' : 'M'}${round(at * across)} ${round(y)}`
    }
    drawing = value !== null
  }
  return path
}

const round = (value: number): number => Math.round(value * 10) / 10
