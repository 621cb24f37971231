// Where the agent may connect to a peer. The server checks addresses too; the agent checks the resolved address, so that
// neither a name nor a faulty server can direct it to its own machine or to a metadata service.

import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { unusablePeerHost } from '@holdfast/core/node'
import { PeerError } from './peer-error.ts'

export interface PeerEndpoint {
  readonly host: string
  readonly port: number
}

const ADDRESS = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]{1,253}):([0-9]{1,5})$/

/** Whether no peer can be at this IP address: loopback, link-local, multicast, unspecified or metadata. */
export function isRefusedPeerIp(address: string): boolean {
  return isIP(address) === 0 || address.includes('%') || unusablePeerHost(address) !== undefined
}

export function parsePeerAddress(text: string): PeerEndpoint | undefined {
  const [, host, port] = ADDRESS.exec(text) ?? []
  if (host === undefined || !(Number(port) >= 1 && Number(port) <= 65_535)) return undefined
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) }
}

/** Resolves the address of a peer to the IP address to which the agent connects. */
export async function resolvePeer(text: string, allowLocal: boolean): Promise<PeerEndpoint> {
  const endpoint = parsePeerAddress(text)
  if (endpoint === undefined) throw new PeerError('refused_address', `${text} is no host and port.`)
  const { address } = await lookup(endpoint.host).catch((error: Error) => {
    throw new PeerError('unreachable', `${endpoint.host} cannot be resolved: ${error.message}`)
  })
  if (!allowLocal && isRefusedPeerIp(address))
    throw new PeerError('refused_address', `${text} is at ${address}, where no other node can be.`)
  return { host: address, port: endpoint.port }
}
