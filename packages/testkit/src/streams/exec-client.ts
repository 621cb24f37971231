// A client of the exec WebSocket, like a user's terminal.

import { EXEC_SUBPROTOCOL, STREAM_CHANNELS } from '@holdfast/contract'
import { waitUntil } from '@holdfast/testkit'
import { WebSocket } from 'ws'

export interface ExecClient {
  readonly socket: WebSocket
  /** All bytes received on the channel so far, as text. */
  text(channel: number): string
  received(): number
  send(channel: number, bytes: Buffer | string): void
  /** Waits for the last frame of the exec session and returns its content. */
  ended(): Promise<{ exitCode?: number; error?: string }>
}

export async function openExecClient(baseUrl: string, id: string, ticket: string): Promise<ExecClient> {
  const url = `${baseUrl.replace(/^http/, 'ws')}/api/v1/exec/${id}?ticket=${ticket}`
  const socket = new WebSocket(url, EXEC_SUBPROTOCOL, { perMessageDeflate: false })
  const messages: Buffer[] = []
  let bytes = 0
  let failed: Error | undefined
  let opened = false
  socket.on('message', (data: Buffer) => {
    bytes += data.length
    messages.push(data)
  })
  socket.on('error', (error) => {
    failed = error
  })
  socket.on('open', () => {
    opened = true
  })
  await waitUntil(() => opened || failed !== undefined, { what: 'the socket is open or rejected' })
  if (failed !== undefined) throw failed
  const text = (channel: number): string =>
    Buffer.concat(messages.filter(([first]) => first === channel).map((data) => data.subarray(1))).toString(
      'utf8',
    )
  return {
    socket,
    text,
    received: () => bytes,
    send: (channel, payload) => socket.send(Buffer.concat([Buffer.of(channel), Buffer.from(payload)])),
    ended: async () => {
      await waitUntil(() => text(STREAM_CHANNELS.exit) !== '', { what: 'the command has ended' })
      return JSON.parse(text(STREAM_CHANNELS.exit))
    },
  }
}

/** Requests a WebSocket upgrade that the server must reject, and returns the response. */
export function refusedUpgrade(
  url: string,
  protocol = EXEC_SUBPROTOCOL,
): Promise<{ status: number; body: { [name: string]: unknown } }> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url.replace(/^http/, 'ws'), protocol)
    socket.on('open', () => {
      socket.terminate()
      reject(new Error('the upgrade was accepted'))
    })
    socket.on('error', () => {})
    socket.on('unexpected-response', (_request, response) => {
      let text = ''
      response.on('data', (part) => {
        text += part
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) }))
    })
  })
}
