// Chooses the subnet of a tenant's network: the first range of the pool that overlaps with no other Docker network, no
// address and no route of the machine. IPv4 only.

import { networkInterfaces } from 'node:os'

/**
 * Address pool for subnets, 10.208.0.0/12: rarely used elsewhere, with room for a thousand networks of a thousand
 * addresses.
 */
const POOL = { start: 0x0ad00000, end: 0x0ae00000 }
const PREFIX_BITS = 22
const RANGE_SIZE = 2 ** (32 - PREFIX_BITS)

/** A range of IPv4 addresses as numbers; `end` is exclusive. */
export interface AddressRange {
  readonly start: number
  readonly end: number
}

/** Parses an IPv4 range in CIDR notation; undefined for any other text. */
export function readRange(text: string): AddressRange | undefined {
  const [address = '', bits = '32'] = text.split('/')
  const number = addressNumber(address)
  const size = 2 ** (32 - Number(bits))
  if (number === undefined || !Number.isInteger(size)) return undefined
  const start = number - (number % size)
  return { start, end: start + size }
}

function addressNumber(text: string): number | undefined {
  const parts = text.split('.').map((part) => (/^\d{1,3}$/.test(part) ? Number(part) : 256))
  if (parts.length !== 4 || parts.some((part) => part > 255)) return undefined
  return parts.reduce((number, part) => number * 256 + part, 0)
}

export const addressText = (number: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.')

/** Chooses a free subnet; undefined if the pool has no free range. */
export function chooseSubnet(taken: readonly AddressRange[]): string | undefined {
  for (let start = POOL.start; start < POOL.end; start += RANGE_SIZE)
    if (!taken.some((other) => other.start < start + RANGE_SIZE && start < other.end))
      return `${addressText(start)}/${PREFIX_BITS}`
  return undefined
}

/** The ranges that the machine itself uses: its interfaces' networks and its routes except the default route. */
export function machineRanges(routeTable: string): AddressRange[] {
  const own = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ cidr }) => cidr ?? ''))
  const routed = routeTable.split('\n').slice(1).map(readRoute)
  return [...own.map(readRange), ...routed].filter((range) => range !== undefined)
}

/** Parses a line of /proc/net/route: destination and mask are hexadecimal, the lowest byte first. */
function readRoute(line: string): AddressRange | undefined {
  const [, destination = '', , , , , , mask = ''] = line.trim().split(/\s+/)
  const [start, bits] = [littleEndian(destination), littleEndian(mask)]
  if (start === undefined || bits === undefined || bits === 0) return undefined
  return { start, end: start + (2 ** 32 - bits) }
}

function littleEndian(hex: string): number | undefined {
  return /^[0-9A-F]{8}$/i.test(hex) ? Buffer.from(hex, 'hex').readUInt32LE() : undefined
}
