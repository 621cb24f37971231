// Formats ages with at most two units. Tables show ages; JSON shows times.

const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
  ['s', 1],
] as const

export function age(time: string | null | undefined, nowMs: number): string {
  const at = time === null || time === undefined ? Number.NaN : Date.parse(time)
  if (Number.isNaN(at)) return '-'
  const seconds = Math.max(0, Math.floor((nowMs - at) / 1000))
  const index = UNITS.findIndex(([, size]) => seconds >= size)
  const first = UNITS[index]
  if (first === undefined) return '0s'
  const second = UNITS[index + 1]
  const major = Math.floor(seconds / first[1])
  const minor = second === undefined ? 0 : Math.floor((seconds % first[1]) / second[1])
  // The second unit of an age is shown only if the first is below 10: 1h30m, but 12d.
  return minor === 0 || major >= 10 || second === undefined
    ? `${major}${first[0]}`
    : `${major}${first[0]}${minor}${second[0]}`
}
