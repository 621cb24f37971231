// Formats CPU, memory and quota amounts, and the names of images, for people.

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const

export const cpu = (millis: number): string => (millis % 1000 === 0 ? `${millis / 1000}` : `${millis}m`)

export function memory(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10))
  const amount = bytes / 1024 ** power
  return `${Number.isInteger(amount) ? amount : amount.toFixed(1)}${UNITS[power]}`
}

/** Formats a quota amount; kinds that end in `_bytes` are sizes. */
export const ofKind = (kind: string, amount: number): string =>
  kind.endsWith('_bytes') ? memory(amount) : String(amount)

/** An image without its registry and folders, and with the beginning of its digest: `hello:1.0`. */
export const shortImage = (image: string): string =>
  image.replace(/^.*\//, '').replace(/(@sha256:\w{12})\w+/, '$1')
