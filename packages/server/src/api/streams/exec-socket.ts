// Connects a running command to its client over a WebSocket. The first byte of a message is its channel: 0 input, 1 output,
// 2 error output, 3 terminal size, 4 exit. Flow control applies in both directions: a slow client pauses the command, and
// a slow command pauses the client.

import { STREAM_CHANNELS, STREAM_HEADER_BYTES, STREAM_PAYLOAD_BYTES, type TenantId } from '@holdfast/contract'
import { WebSocket } from 'ws'
import { keepAlive } from '../../gateway/streams/keep-alive.ts'
import type { ExecOrder } from '../../operations/deployments/exec/exec-ticket.ts'
import type { NodeStream, OpenNodeStream, StreamEnd } from '../../ports/node-streams.ts'

export interface ExecTimes {
  /** Time without a byte in either direction after which the command is ended. */
  readonly idleMs: number
  /** Interval at which the server checks whether the command is idle and whether the caller's token is still valid. */
  readonly checkMs: number
}

const TIMES: ExecTimes = { idleMs: 30 * 60_000, checkMs: 5_000 }
const ALIVE_MS = 30_000
/** Maximum number of output bytes of a command that are in transit or buffered. */
const WINDOW_BYTES = 256 * 1024

export interface ExecSession {
  readonly openStream: OpenNodeStream
  readonly tenant: TenantId
  readonly order: ExecOrder
  /** Signal that aborts when the server stops. */
  readonly ending: AbortSignal
  readonly times?: Partial<ExecTimes>
  isTokenValid(): boolean
}

export function serveExec(client: WebSocket, session: ExecSession): void {
  const { openStream, tenant, order, ending } = session
  const { idleMs, checkMs } = { ...TIMES, ...session.times }
  let usedAt = performance.now()
  const used = (): void => {
    usedAt = performance.now()
  }
  const finish = (end: StreamEnd): void => {
    stream.close()
    sendEnd(client, end)
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
      end: (end) => sendEnd(client, end),
    },
  )
  stream.credit(WINDOW_BYTES)
  const input = createInput(client, stream)
  client.on('message', (data, isBinary) => {
    used()
    if (!isBinary || !Buffer.isBuffer(data) || !input.accept(data)) client.close(1008, 'protocol_violation')
  })
  const check = setInterval(() => {
    if (!session.isTokenValid()) finish({ error: 'closed' })
    else if (performance.now() - usedAt > idleMs) finish({ error: 'idle' })
  }, checkMs)
  const stop = (): void => finish({ error: 'closed' })
  ending.addEventListener('abort', stop)
  keepAlive(client, ALIVE_MS)
  // The `close` event of the client follows every error and ends the command's stream, so errors are ignored.
  client.on('error', () => {})
  client.on('close', () => {
    clearInterval(check)
    ending.removeEventListener('abort', stop)
    stream.close()
  })
}

/** Time that the client has to complete the close handshake; after that the connection is terminated. */
const CLOSE_TIMEOUT_MS = 2_000

function sendEnd(client: WebSocket, { exitCode, error }: StreamEnd): void {
  if (client.readyState !== WebSocket.OPEN) return
  const end = exitCode === undefined ? { error: error ?? 'closed' } : { exitCode }
  client.send(Buffer.concat([Buffer.of(STREAM_CHANNELS.exit), Buffer.from(JSON.stringify(end))]))
  // A paused client must be resumed, otherwise its close frame would not be read.
  client.resume()
  client.close(1000)
  const timer = setTimeout(() => client.terminate(), CLOSE_TIMEOUT_MS)
  client.once('close', () => clearTimeout(timer))
}

function createOutput(client: WebSocket, credit: (bytes: number) => void) {
  let sentBytes = 0
  return (channel: number, payload: Buffer): void => {
    const message = Buffer.allocUnsafe(1 + payload.length)
    message[0] = channel
    payload.copy(message, 1)
    client.send(message, () => {
      sentBytes += STREAM_HEADER_BYTES + payload.length
      if (sentBytes < WINDOW_BYTES / 2) return
      credit(sentBytes)
      sentBytes = 0
    })
  }
}

interface InputChunk {
  readonly channel: number
  readonly payload: Buffer
}

const SENT_BY_CLIENTS: readonly number[] = [STREAM_CHANNELS.stdin, STREAM_CHANNELS.resize]

/** Buffers input that the node cannot accept yet, and pauses the client while input is buffered. */
function createInput(client: WebSocket, stream: NodeStream) {
  const waiting: InputChunk[] = []
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
    /** Accepts one message of the client; returns false if the message violates the protocol. */
    accept(message: Buffer): boolean {
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
