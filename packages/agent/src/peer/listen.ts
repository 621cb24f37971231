// The port at which the agents of the tenant's other nodes connect. A connection is served only after the other side has
// proved a key of a peer that the server named; all others are closed without an answer.

import type { AddressInfo, Socket } from 'node:net'
import { createServer, type TLSSocket } from 'node:tls'
import type { NodeId, Peer } from '@holdfast/contract'
import type { Logger } from 'pino'
import { keyOfCertificate, type TlsIdentity } from './certificate.ts'
import { createPeerConnection, type PeerConnection } from './connection.ts'
import { peerTls } from './dial.ts'
import { PEER_PROTOCOL, type PeerRequest } from './messages.ts'
import { parsePeerAddress } from './peer-address.ts'
import { limitUnproved } from './unproved.ts'

/** A peer completes its handshake within a few round trips. */
const HANDSHAKE_MS = 5_000
const HEADER_MS = 10_000
/** A connection for renewals is closed after this time without one. */
const NEXT_MS = 30_000
/** Connections without a proved key have lower limits of their own, so strangers cannot use these up. */
const MAX_CONNECTIONS = 1024
/** Many peers may share an address, and each keeps a connection for its renewals. */
const MAX_PER_PEER = 4

export interface ListenOptions {
  readonly host?: string
  readonly port: number
  readonly identity: TlsIdentity
  /** The peers as the server last named them. */
  peers(): readonly Peer[]
  serve(from: NodeId, request: PeerRequest, connection: PeerConnection): Promise<void>
  readonly log: Logger
}

export interface PeerPort {
  readonly port: number
  close(): Promise<void>
}

/** The only peer with the key; undefined if no peer has it, or if two have it. */
export function peerOfKey(peers: readonly Peer[], key: string | undefined): NodeId | undefined {
  const found = peers.filter(({ publicKeys }) => key !== undefined && publicKeys.includes(key))
  return found.length === 1 ? found[0]?.nodeId : undefined
}

export async function listenForPeers(options: ListenOptions): Promise<PeerPort> {
  const { host, port, identity, log } = options
  const server = createServer({
    ...peerTls(identity),
    requestCert: true,
    noDelay: true,
    handshakeTimeout: HANDSHAKE_MS,
  })
  const sockets = new Set<Socket>()
  const ofPeer = countPerKey()
  const unproved = limitUnproved((address) =>
    options.peers().some((peer) => parsePeerAddress(peer.address)?.host === address),
  )
  server.maxConnections = MAX_CONNECTIONS
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    unproved.add(socket)
  })
  // Strangers and port scans are no events of interest. Node leaves a socket open whose handshake is late.
  server.on('tlsClientError', (_error, socket) => socket.destroy())
  server.on('secureConnection', (socket: TLSSocket) => {
    socket.on('error', () => {})
    const from = identify(socket, options.peers())
    if (from === undefined || ofPeer.count(from) >= MAX_PER_PEER) return void socket.destroy()
    unproved.prove(socket)
    ofPeer.add(from)
    socket.once('close', () => ofPeer.remove(from))
    const isStill = (): boolean => identify(socket, options.peers()) === from
    void serveOne(options, from, createPeerConnection(socket), isStill)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, ...(host !== undefined && { host }) }, resolve)
  })
  server.on('error', (error) => log.error({ message: error.message }, 'peer port failed'))
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

/** A resumed session does not prove the key again, so it is refused. */
function identify(socket: TLSSocket, peers: readonly Peer[]): NodeId | undefined {
  if (socket.isSessionReused() || socket.alpnProtocol !== PEER_PROTOCOL) return undefined
  return peerOfKey(peers, keyOfCertificate(socket.getPeerX509Certificate()))
}

async function serveOne(
  { serve, log }: ListenOptions,
  from: NodeId,
  connection: PeerConnection,
  isStill: () => boolean,
): Promise<void> {
  try {
    const first = await connection.readRequest(HEADER_MS)
    await serve(from, first, connection)
    if (first.request === 'renew') await serveRenewals(serve, from, connection, isStill)
    else await connection.finish()
  } catch (error) {
    log.warn(
      { peer: from, message: error instanceof Error ? error.message : String(error) },
      'request of a peer failed',
    )
  } finally {
    connection.close()
  }
}

/** Serves further renewals on the connection until it ends, as long as the server still names the key. */
async function serveRenewals(
  serve: ListenOptions['serve'],
  from: NodeId,
  connection: PeerConnection,
  isStill: () => boolean,
): Promise<void> {
  for (;;) {
    // The end of the connection is no fault: the next renewal has its own.
    const next = await connection.readRequest(NEXT_MS).catch(() => undefined)
    if (next?.request !== 'renew' || !isStill()) return
    await serve(from, next, connection)
  }
}

function countPerKey() {
  const counts = new Map<string, number>()
  const count = (key: string): number => counts.get(key) ?? 0
  return {
    count,
    add: (key: string): void => void counts.set(key, count(key) + 1),
    remove(key: string): void {
      if (count(key) > 1) counts.set(key, count(key) - 1)
      else counts.delete(key)
    },
  }
}
