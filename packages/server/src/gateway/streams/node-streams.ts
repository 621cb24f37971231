// Opens a stream to a node from any server replica. If another server replica has the node's socket, the stream is
// forwarded once, over a separate WebSocket that the cluster key authenticates. See docs/design/agent.md#streams

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import {
  branded,
  decodeOpen,
  defined,
  encodeOpen,
  type NodeId,
  object,
  openShape,
  type TenantId,
} from '@holdfast/contract'
import { WebSocket, WebSocketServer } from 'ws'
import { answerUpgrade } from '../../net/upgrade.ts'
import type { NodeStream, OpenNodeStream, StreamReader, StreamRequest } from '../../ports/node-streams.ts'
import type { GatewayContext, NodeAddress } from '../deps.ts'
import { noteRefusal, refuseEpoch, withEpoch } from '../peers/calling-epoch.ts'
import { createProofCheck, proveRequest } from '../peers/cluster-proof.ts'
import { findHolder } from '../peers/find-holder.ts'
import type { Session } from '../session/session.ts'
import { frameBytes } from './frames.ts'
import { keepAlive } from './keep-alive.ts'
import { linkPeer, MAX_PEER_MESSAGE } from './peer-link.ts'
import { endedStream, openSessionStream } from './session-streams.ts'

const { type: _type, stream: _stream, ...requestFields } = openShape.fields
const forwardedShape = object({ tenant: branded<TenantId>(), ...requestFields })

const PATH = /^\/internal\/nodes\/([A-Za-z0-9_]{1,64})\/stream$/
const pathOf = (nodeId: NodeId): string => `/internal/nodes/${nodeId}/stream`
/** Header with the forwarded stream request as base64url of JSON. The HMAC of the upgrade request covers this header. */
const REQUEST_HEADER = 'x-holdfast-stream'
const ALIVE_MS = 15_000
const SUBPROTOCOL = 'holdfast.stream.v1'

export interface NodeStreams {
  readonly open: OpenNodeStream
  /** Handles a WebSocket upgrade from another server replica. Returns false for any other upgrade. */
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean
}

export type HeldSession = (tenant: string, nodeId: string) => Session | undefined

export function createNodeStreams(context: GatewayContext, held: HeldSession): NodeStreams {
  const isProven = createProofCheck(context.clusterKey, context.clock)
  const upgrades = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_PEER_MESSAGE,
    handleProtocols: () => SUBPROTOCOL,
  })
  return {
    open(tenant, nodeId, request, reader) {
      const session = held(tenant, nodeId)
      if (session !== undefined) return openSessionStream(session, request, reader)
      return openElsewhere(context, { tenant, nodeId }, request, reader)
    },
    handleUpgrade(request, socket, head) {
      const [, nodeId] = PATH.exec(request.url ?? '') ?? []
      if (nodeId === undefined) return false
      const forwarded = readForwarded(context, request, isProven)
      const session = typeof forwarded === 'object' ? held(forwarded.tenant, nodeId) : undefined
      if (typeof forwarded !== 'object') answerUpgrade(socket, forwarded)
      else if (session === undefined) answerUpgrade(socket, 404)
      else
        upgrades.handleUpgrade(request, socket, head, (peer) => {
          const { tenant, ...opening } = forwarded
          servePeer(peer, session, opening)
        })
      return true
    },
  }
}

type ForwardedRequest = StreamRequest & { readonly tenant: TenantId }

/** Returns the forwarded stream request, or the HTTP status with which the upgrade is rejected. */
function readForwarded(
  { store }: Pick<GatewayContext, 'store'>,
  { url = '', headers }: IncomingMessage,
  isProven: ReturnType<typeof createProofCheck>,
): ForwardedRequest | number {
  const body = Buffer.from(String(headers[REQUEST_HEADER] ?? ''), 'base64url').toString('utf8')
  if (!isProven(headers.authorization, { method: 'GET', path: url, body })) return 401
  const refused = refuseEpoch(store, body)
  if (refused !== undefined) return refused
  try {
    return decodeOpen(forwardedShape, JSON.parse(body))
  } catch {
    return 400
  }
}

function servePeer(peer: WebSocket, session: Session, request: StreamRequest): void {
  keepAlive(peer, ALIVE_MS)
  const link = linkPeer(peer, {
    data: (channel, payload) => stream.send(channel, payload),
    room: (bytes) => stream.credit(bytes),
    end: () => stream.close(),
  })
  const stream = openSessionStream(session, request, {
    data: link.frame,
    room: link.credit,
    end: link.end,
  })
}

function openElsewhere(
  context: GatewayContext,
  node: NodeAddress,
  request: StreamRequest,
  reader: StreamReader,
): NodeStream {
  const base = findHolder(context, node)
  if (base === undefined) return endedStream(reader, 'node_unreachable')
  const socket = dialPeer(context, new URL(pathOf(node.nodeId), base), { tenant: node.tenant, ...request })
  let room = 0
  let closed = false
  let waiting = 0
  const link = linkPeer(socket, {
    data: (channel, payload) => !closed && reader.data(channel, payload),
    room(bytes) {
      room += bytes
      if (!closed) reader.room(bytes)
    },
    end: (end) => !closed && reader.end(end),
  })
  socket.on('open', () => {
    keepAlive(socket, ALIVE_MS)
    if (waiting > 0) link.credit(waiting)
  })
  return {
    credit(bytes) {
      if (socket.readyState === WebSocket.CONNECTING) waiting += bytes
      else link.credit(bytes)
    },
    get room() {
      return room
    },
    send(channel, payload) {
      room -= frameBytes(payload)
      link.frame(channel, payload)
    },
    close() {
      closed = true
      if (socket.readyState === WebSocket.OPEN) link.end({})
      else socket.terminate()
    },
  }
}

function dialPeer(
  { store, clusterKey, clusterCa, clock, times }: GatewayContext,
  url: URL,
  forwarded: ForwardedRequest,
): WebSocket {
  const body = encodeOpen(withEpoch(store, forwarded))
  const authorization = proveRequest(clusterKey, clock, { method: 'GET', path: url.pathname, body })
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  const socket = new WebSocket(url, SUBPROTOCOL, {
    headers: { authorization, [REQUEST_HEADER]: Buffer.from(body).toString('base64url') },
    handshakeTimeout: times.callMs,
    perMessageDeflate: false,
    maxPayload: MAX_PEER_MESSAGE,
    ...defined({ ca: clusterCa }),
  })
  socket.on('unexpected-response', (asked, { statusCode = 0 }) => {
    noteRefusal(store, statusCode)
    // A listener takes over the end of the handshake.
    asked.destroy()
    socket.terminate()
  })
  return socket
}
