// Validates the peer addresses of a hello: the host and port where the tenant's other nodes reach this node's router, and
// those where they reach its agent.

import { isIPv4, isIPv6 } from 'node:net'

const MAX_TEXT = 260
const LABEL = /^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/
const NAME_CHARACTERS = 253
const LABEL_CHARACTERS = 63
const ALL_DIGITS = /^\d+$/
const MAX_PORT = 65_535

/** Returns the text if it is a valid `host:port` (IPv6 hosts in brackets), otherwise undefined. */
export function validPeerAddress(text: string | undefined): string | undefined {
  if (text === undefined || text.length > MAX_TEXT) return undefined
  const colon = text.lastIndexOf(':')
  const [host, port] = [text.slice(0, colon), text.slice(colon + 1)]
  return colon > 0 && isHost(host) && isPort(port) ? text : undefined
}

function isHost(host: string): boolean {
  if (host.startsWith('[') && host.endsWith(']')) return isIPv6(host.slice(1, -1)) && !host.includes('%')
  return isIPv4(host) || isName(host)
}

function isName(host: string): boolean {
  const labels = host.split('.')
  const areValid = labels.every((label) => label.length <= LABEL_CHARACTERS && LABEL.test(label))
  return host.length <= NAME_CHARACTERS && areValid && !ALL_DIGITS.test(labels.at(-1) ?? '')
}

function isPort(port: string): boolean {
  return ALL_DIGITS.test(port) && port.length <= 5 && Number(port) >= 1 && Number(port) <= MAX_PORT
}
