// Connects to the agent of another node. Nothing is sent before the other side has proved one of the keys that the server
// named for that node.

import { connect, type TLSSocket } from 'node:tls'
import type { Peer } from '@holdfast/contract'
import { keyOfCertificate, type TlsIdentity } from './certificate.ts'
import { createPeerConnection, type PeerConnection } from './connection.ts'
import { PEER_PROTOCOL } from './messages.ts'
import { type PeerEndpoint, resolvePeer } from './peer-address.ts'
import { PeerError } from './peer-error.ts'

const HANDSHAKE_MS = 10_000

/** TLS settings of both sides: version 1.3, Ed25519 keys, and no authority. */
export const peerTls = ({ key, cert }: TlsIdentity) => ({
  key,
  cert,
  minVersion: 'TLSv1.3' as const,
  maxVersion: 'TLSv1.3' as const,
  sigalgs: 'ed25519',
  ALPNProtocols: [PEER_PROTOCOL],
  // There is no authority to ask; the key of the certificate is compared instead.
  rejectUnauthorized: false,
})

export interface DialOptions {
  readonly identity: TlsIdentity
  /** Allows peers on this machine, for tests. */
  readonly allowLocal?: boolean
  /** The time for connection and handshake. */
  readonly handshakeMs?: number
}

export async function dialPeer(
  peer: Peer,
  { identity, allowLocal = false, handshakeMs = HANDSHAKE_MS }: DialOptions,
): Promise<PeerConnection> {
  const socket = await handshake(await resolvePeer(peer.address, allowLocal), identity, handshakeMs)
  const key = keyOfCertificate(socket.getPeerX509Certificate())
  const isKnown = key !== undefined && peer.publicKeys.includes(key)
  if (isKnown && socket.alpnProtocol === PEER_PROTOCOL) return createPeerConnection(socket)
  socket.destroy()
  throw new PeerError('wrong_key', `${peer.address} has not proved a key of node ${peer.nodeId}.`)
}

function handshake(
  { host, port }: PeerEndpoint,
  identity: TlsIdentity,
  handshakeMs: number,
): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ ...peerTls(identity), host, port })
    // Answers are short, and each would wait up to 40 ms for the acknowledgement of the bytes before it.
    socket.setNoDelay()
    const timer = setTimeout(() => socket.destroy(new Error('no handshake in time')), handshakeMs)
    const fail = (error?: Error): void => {
      clearTimeout(timer)
      reject(
        new PeerError('unreachable', `${host}:${port}: ${error?.message ?? 'the connection was closed'}`),
      )
    }
    socket.once('error', fail)
    socket.once('close', () => fail())
    socket.once('secureConnect', () => {
      clearTimeout(timer)
      socket.off('error', fail)
      resolve(socket)
    })
  })
}
