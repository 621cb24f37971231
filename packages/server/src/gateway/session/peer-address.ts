// Validates the peer addresses of a hello: the host and port where the tenant's other nodes reach this node's router, and
// those where they reach its agent.

import { isIPv4, isIPv6 } from 'node:net'
import type { Hello } from '@holdfast/contract'
import { hostOfPeer, unusablePeerHost } from '@holdfast/core/node'
import type { RefusedAddress } from '../../operations/nodes/node-events.ts'

const MAX_TEXT = 260
const LABEL = /^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/
const NAME_CHARACTERS = 253
const LABEL_CHARACTERS = 63
const ALL_DIGITS = /^\d+$/
/** A resolver may read a name that ends in a number as an IP address. */
const NUMBER = /^(?:\d+|0[xX][0-9A-Fa-f]*)$/
const MAX_PORT = 65_535

/** The members of a hello that are peer addresses, with the options of the agent that set them. */
const OPTIONS = {
  peerAddress: '--peer-address',
  securePeerAddress: '--secure-peer-address',
  agentPeerAddress: '--agent-peer-address',
} as const
const MEMBERS = ['peerAddress', 'securePeerAddress', 'agentPeerAddress'] as const

/** The peer addresses of a hello that the server does not use. The text of a malformed one is not quoted. */
export function refusedAddresses(hello: Hello, isOnlyNode: boolean): RefusedAddress[] {
  return MEMBERS.flatMap((member) => {
    const option = OPTIONS[member]
    const text = hello[member]
    if (text === undefined) return []
    if (validPeerAddress(text) === undefined) return [{ option, received: '(malformed)', kind: 'malformed' }]
    const kind = isOnlyNode ? undefined : unusablePeerHost(hostOfPeer(text))
    return kind === undefined ? [] : [{ option, received: text, kind }]
  })
}

/** The hello without the refused addresses. */
export function withoutAddresses(hello: Hello, refused: readonly RefusedAddress[]): Hello {
  const kept = { ...hello }
  for (const member of MEMBERS)
    if (refused.some(({ option }) => option === OPTIONS[member])) delete kept[member]
  return kept
}

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
  return host.length <= NAME_CHARACTERS && areValid && !NUMBER.test(labels.at(-1) ?? '')
}

function isPort(port: string): boolean {
  return ALL_DIGITS.test(port) && port.length <= 5 && Number(port) >= 1 && Number(port) <= MAX_PORT
}
