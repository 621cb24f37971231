// The address of the client that sent a request. Behind a proxy, the socket has the address of the proxy; a trusted proxy
// appends the address that it saw to X-Forwarded-For. The client itself may have sent everything further left.

import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'

export type ClientAddress = (request: SentFrom) => string

/** The parts of a request from which its sender is known. */
interface SentFrom {
  readonly headers: IncomingMessage['headers']
  readonly socket: { readonly remoteAddress?: string | undefined }
}

/** An IP address, or a range as address and prefix length. */
const RANGE = /^([0-9A-Fa-f:.]{2,45})(?:\/(\d{1,3}))?$/
const MAPPED = '::ffff:'

/** Whether a text is an address or a range. A range of all addresses is none: every client could then choose its own. */
export function isAddressRange(text: string): boolean {
  const [, address = '', prefix] = RANGE.exec(text) ?? []
  const family = isIP(address)
  const most = family === 4 ? 32 : 128
  return family !== 0 && (prefix === undefined || (Number(prefix) >= 1 && Number(prefix) <= most))
}

export function createClientAddress(trustedProxies: readonly string[]): ClientAddress {
  const isTrusted = isWithin(trustedProxies)
  return ({ headers, socket }) => {
    let address = plain(socket.remoteAddress ?? '')
    const sent = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',')
    // Each trusted proxy vouches for the address left of its own. A text that is no address ends the chain at the proxy.
    while (isTrusted(address)) {
      const before = plain(withoutPort(sent.pop()?.trim() ?? ''))
      if (isIP(before) === 0) break
      address = before
    }
    return address
  }
}

/** Whether an address is one of those listed, or within one of the ranges. */
export function isWithin(ranges: readonly string[]): (address: string) => boolean {
  const list = listOf(ranges)
  return (text) => {
    const address = plain(text)
    const family = isIP(address)
    return family !== 0 && list.check(address, family === 4 ? 'ipv4' : 'ipv6')
  }
}

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [, address = '', prefix] = RANGE.exec(range) ?? []
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
    if (prefix === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(prefix), family)
  }
  return list
}

/** An IPv4 address as such, where a socket for both families writes it as IPv6. */
function plain(address: string): string {
  const inner = address.toLowerCase().startsWith(MAPPED) ? address.slice(MAPPED.length) : address
  return isIP(inner) === 4 ? inner : address
}

/** Some proxies append the port of the client: `192.0.2.1:4711` or `[2001:db8::1]:4711`. */
function withoutPort(text: string): string {
  return /^\[([0-9A-Fa-f:.]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text
}
