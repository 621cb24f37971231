// The percentile of measured values: the smallest value that at least the given share of them does not exceed.

export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  const at = Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)
  return sorted[at] ?? Number.NaN
}
