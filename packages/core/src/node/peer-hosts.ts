// Hosts at which no other node of a tenant can be. Server and agent refuse them, so that a node cannot direct another one
// to its own machine or to the metadata service of a cloud.

type UnusableHost = 'loopback' | 'link-local' | 'multicast' | 'reserved' | 'unspecified' | 'metadata'

/** Metadata services come first, because one of them is at a link-local address. */
const RANGES: readonly (readonly [address: string, bits: number, kind: UnusableHost])[] = [
  ['169.254.169.254', 32, 'metadata'],
  ['100.100.100.200', 32, 'metadata'],
  ['168.63.129.16', 32, 'metadata'],
  ['192.0.0.192', 32, 'metadata'],
  ['fd00:ec2::254', 128, 'metadata'],
  ['0.0.0.0', 8, 'unspecified'],
  ['::', 128, 'unspecified'],
  ['127.0.0.0', 8, 'loopback'],
  ['::1', 128, 'loopback'],
  ['169.254.0.0', 16, 'link-local'],
  ['fe80::', 10, 'link-local'],
  ['224.0.0.0', 4, 'multicast'],
  ['ff00::', 8, 'multicast'],
  ['240.0.0.0', 4, 'reserved'],
]

const V4 = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/
const GROUP = /^[0-9A-Fa-f]{1,4}$/
/** The prefix of IPv4 addresses that are written as IPv6 ones. Both forms of an address have the same number. */
const MAPPED = 0xffffn << 32n
const TOTAL_BITS = 128
const LOCAL_NAME = /^(?:.*\.)?localhost\.?$/i

interface Range {
  readonly start: bigint
  readonly hostBits: bigint
  readonly kind: UnusableHost
}

const ranges = RANGES.flatMap(([address, bits, kind]): Range[] => {
  const start = parseIp(address)
  const hostBits = BigInt((address.includes(':') ? TOTAL_BITS : 32) - bits)
  return start === undefined ? [] : [{ start: start >> hostBits, hostBits, kind }]
})

/** Why no other node can be at the host, as one word; undefined if one can. A name is judged again where it is resolved. */
export function unusablePeerHost(host: string): UnusableHost | undefined {
  if (LOCAL_NAME.test(host)) return 'loopback'
  const ip = parseIp(host)
  return ip === undefined ? undefined : ranges.find((range) => ip >> range.hostBits === range.start)?.kind
}

/** The host of a `host:port`, without the brackets of an IPv6 address. */
export const hostOfPeer = (address: string): string =>
  address.slice(0, Math.max(0, address.lastIndexOf(':'))).replace(/^\[|\]$/g, '')

/** The number of an IP address; undefined if the text is none. */
function parseIp(text: string): bigint | undefined {
  const v4 = parseV4(text)
  if (v4 !== undefined) return MAPPED | v4
  const tail = parseV4(text.slice(text.lastIndexOf(':') + 1))
  if (!text.includes(':') || (text.includes('.') && tail === undefined)) return undefined
  const groups = tail === undefined ? text : text.slice(0, text.lastIndexOf(':') + 1) + asGroups(tail)
  return parseGroups(groups)
}

function parseV4(text: string): bigint | undefined {
  const parts = V4.exec(text)?.slice(1).map(Number)
  if (parts === undefined || parts.some((part) => part > 255)) return undefined
  return parts.reduce((number, part) => (number << 8n) | BigInt(part), 0n)
}

const asGroups = (v4: bigint): string => `${(v4 >> 16n).toString(16)}:${(v4 & 0xffffn).toString(16)}`

function parseGroups(text: string): bigint | undefined {
  const [head = '', rest, ...more] = text.split('::')
  const split = (part: string): string[] => (part === '' ? [] : part.split(':'))
  const [left, right] = [split(head), split(rest ?? '')]
  const zeros = 8 - left.length - right.length
  const isWhole = more.length === 0 && (rest === undefined ? zeros === 0 : zeros > 0)
  const groups = [...left, ...Array<string>(Math.max(0, zeros)).fill('0'), ...right]
  if (!isWhole || !groups.every((group) => GROUP.test(group))) return undefined
  return groups.reduce((number, group) => (number << 16n) | BigInt(`0x${group}`), 0n)
}
