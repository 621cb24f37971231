// How long ago: the two largest units at the most. Tables show ages, JSON shows times.

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
  const whole = Math.floor(seconds / first[1])
  const rest = second === undefined ? 0 : Math.floor((seconds % first[1]) / second[1])
  // A second unit where it matters: 1h30m, but 12d.
  return rest === 0 || whole >= 10 || second === undefined
    ? `${whole}${first[0]}`
    : `${whole}${first[0]}${rest}${second[0]}`
}
