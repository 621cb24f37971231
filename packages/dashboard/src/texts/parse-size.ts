// A size that a person types, such as 20Gi or 512 MiB, in bytes.

const UNITS: { readonly [unit: string]: number } = {
  '': 1,
  k: 1024,
  m: 1024 ** 2,
  g: 1024 ** 3,
  t: 1024 ** 4,
}
const SIZE = /^(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b?)$/i

/** Undefined if it is no size of at least one byte. Units are powers of 1024. */
export function parseSize(text: string): number | undefined {
  const [, amount, unit] = SIZE.exec(text.trim()) ?? []
  const factor = unit === undefined ? undefined : UNITS[unit.toLowerCase()]
  if (amount === undefined || factor === undefined) return undefined
  const bytes = Math.round(Number(amount) * factor)
  return Number.isSafeInteger(bytes) && bytes > 0 ? bytes : undefined
}
