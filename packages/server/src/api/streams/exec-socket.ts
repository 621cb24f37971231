// One command and the client at its other end, over a WebSocket whose first byte says what follows: 0 input, 1 output,
// 2 error output, 3 the size of the terminal, 4 the end. Credit is given for what the network took, so a client that does
// not read makes the command wait; and a command that does not read makes the client wait. DECISIONS 1.

import { STREAM_CHANNELS, STREAM_HEADER_BYTES, STREAM_PAYLOAD_BYTES, type TenantId } from '@holdfast/contract'
import { WebSocket } from 'ws'
import { keepAlive } from '../../gateway/streams/keep-alive.ts'
import type { ExecOrder } from '../../operations/deployments/exec/exec-ticket.ts'
import type { NodeStream, OpenNodeStream, StreamEnd } from '../../ports/node-streams.ts'

export interface ExecTimes {
  /** Without a byte in either direction. */
  readonly idleMs: number
  /** How often it is asked whether the client is there and its token counts. */
  readonly lookMs: number
}

const TIMES: ExecTimes = { idleMs: 30 * 60_000, lookMs: 5_000 }
const ALIVE_MS = 30_000
/** Of output, on its way and held. */
const WINDOW_BYTES = 256 * 1024

export interface ExecSession {
  readonly openStream: OpenNodeStream
  readonly tenant: TenantId
  readonly order: ExecOrder
  /** The server stops. */
  readonly ending: AbortSignal
  readonly times?: Partial<ExecTimes>
  stillCounts(): boolean
}

export function serveExec(client: WebSocket, session: ExecSession): void {
  const { openStream, tenant, order, ending } = session
  const { idleMs, lookMs } = { ...TIMES, ...session.times }
  let usedAt = performance.now()
  const used = (): void => {
    usedAt = performance.now()
  }
  const finish = (end: StreamEnd): void => {
    stream.close()
    sayEnd(client, end)
  }
  const output = createOutput(client, (bytes) => stream.credit(bytes))
  const stream = openStream(
    tenant,
    order.nodeId,
    { kind: 'exec', assignmentId: order.assignmentId, command: order.command, tty: order.tty },
    {
      data(channel, payload) {
        used()
        output(channel, payload)
      },
      room: () => input.flush(),
      end: (end) => sayEnd(client, end),
    },
  )
  stream.credit(WINDOW_BYTES)
  const input = createInput(client, stream)
  client.on('message', (data, isBinary) => {
    used()
    if (!isBinary || !Buffer.isBuffer(data) || !input.take(data)) client.close(1008, 'protocol_violation')
  })
  const look = setInterval(() => {
    if (!session.stillCounts()) finish({ error: 'closed' })
    else if (performance.now() - usedAt > idleMs) finish({ error: 'idle' })
  }, lookMs)
  const stop = (): void => finish({ error: 'closed' })
  ending.addEventListener('abort', stop)
  keepAlive(client, ALIVE_MS)
  client.on('error', () => {})
  client.on('close', () => {
    clearInterval(look)
    ending.removeEventListener('abort', stop)
    stream.close()
  })
}

/** A peer that does not answer must not keep the connection. */
const FAREWELL_MS = 2_000

function sayEnd(client: WebSocket, { exitCode, error }: StreamEnd): void {
  if (client.readyState !== WebSocket.OPEN) return
  const end = exitCode === undefined ? { error: error ?? 'closed' } : { exitCode }
  client.send(Buffer.concat([Buffer.of(STREAM_CHANNELS.exit), Buffer.from(JSON.stringify(end))]))
  // Input that waits is wanted no more; paused, its farewell would not be read either.
  client.resume()
  client.close(1000)
  const timer = setTimeout(() => client.terminate(), FAREWELL_MS)
  client.once('close', () => clearTimeout(timer))
}

function createOutput(client: WebSocket, credit: (bytes: number) => void) {
  let taken = 0
  return (channel: number, payload: Buffer): void => {
    const message = Buffer.allocUnsafe(1 + payload.length)
    message[0] = channel
    payload.copy(message, 1)
    client.send(message, () => {
      taken += STREAM_HEADER_BYTES + payload.length
      if (taken < WINDOW_BYTES / 2) return
      credit(taken)
      taken = 0
    })
  }
}

interface Piece {
  readonly channel: number
  readonly payload: Buffer
}

const SENT_BY_CLIENTS: readonly number[] = [STREAM_CHANNELS.stdin, STREAM_CHANNELS.resize]

/** What the node has no room for waits here, and its client is not read meanwhile. */
function createInput(client: WebSocket, stream: NodeStream) {
  const waiting: Piece[] = []
  const flush = (): void => {
    for (let first = waiting[0]; first !== undefined; first = waiting[0]) {
      if (stream.room < STREAM_HEADER_BYTES + first.payload.length) break
      waiting.shift()
      stream.send(first.channel, first.payload)
    }
    if (waiting.length > 0 && !client.isPaused) client.pause()
    if (waiting.length === 0 && client.isPaused) client.resume()
  }
  return {
    flush,
    /** False where it is not of this protocol. */
    take(message: Buffer): boolean {
      const [channel] = message
      if (channel === undefined || !SENT_BY_CLIENTS.includes(channel)) return false
      let from = 1
      do {
        const payload = message.subarray(from, from + STREAM_PAYLOAD_BYTES)
        waiting.push({ channel, payload })
        from += STREAM_PAYLOAD_BYTES
      } while (from < message.length)
      flush()
      return true
    },
  }
}
