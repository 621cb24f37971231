// One command in a container, over a WebSocket: asks for a ticket, opens the socket, passes bytes both ways, and reports how
// the session ended.

import {
  type Client,
  decodeExecFrame,
  type ExecOutput,
  encodeResize,
  encodeStdin,
  type WindowSize,
} from '@holdfast/client'
import { EXEC_SUBPROTOCOL } from '@holdfast/contract'
import { CallError } from '../failure.ts'

export type ExecState =
  | { readonly kind: 'opening' | 'open' | 'closed' | 'lost' }
  | { readonly kind: 'exited'; readonly code: number }
  /** The server reports why the exit code is unknown. */
  | { readonly kind: 'broken'; readonly reason: string }
  | { readonly kind: 'refused'; readonly error: CallError }

export interface ExecTarget {
  readonly name: string
  /** Absent: the first ready replica, which the server chooses. */
  readonly replica?: number | undefined
  readonly command: readonly string[]
}

export interface ExecListener {
  onState(state: ExecState): void
  onOutput(bytes: Uint8Array): void
}

export interface ExecSession {
  send(bytes: Uint8Array): void
  resize(size: WindowSize): void
  /** Ends the session; the state becomes closed. */
  close(): void
}

/** The parts of a WebSocket that a session uses. */
export type Socket = Pick<WebSocket, 'binaryType' | 'readyState' | 'addEventListener' | 'send' | 'close'>

export interface ExecDeps {
  readonly client: Pick<Client, 'execUrl'> & { readonly deployments: Pick<Client['deployments'], 'exec'> }
  openSocket(url: string, protocol: string): Socket
}

/** The largest message that the server accepts. */
const CHUNK_BYTES = 16 * 1024
const OPEN = 1

export function openExec(
  { client, openSocket }: ExecDeps,
  { name, replica, command }: ExecTarget,
  listener: ExecListener,
): ExecSession {
  const left = new AbortController()
  let socket: Socket | undefined
  let size: WindowSize | undefined
  const write = (bytes: Uint8Array): void => {
    if (socket?.readyState === OPEN) socket.send(bytes.slice())
  }
  const end = (state: ExecState): void => {
    if (left.signal.aborted) return
    left.abort()
    socket?.close()
    listener.onState(state)
  }
  const open = async (): Promise<void> => {
    listener.onState({ kind: 'opening' })
    const request = { command: [...command], tty: true, ...(replica === undefined ? {} : { replica }) }
    const issued = await client.deployments.exec(name, request, { signal: left.signal })
    if (left.signal.aborted) return
    if (!issued.ok) return end({ kind: 'refused', error: new CallError(issued.failure) })
    socket = openSocket(client.execUrl(issued.value), EXEC_SUBPROTOCOL)
    follow(socket, left.signal, {
      opened() {
        listener.onState({ kind: 'open' })
        if (size !== undefined) write(encodeResize(size))
      },
      output: listener.onOutput,
      end,
    })
  }
  void open()
  return {
    send(bytes) {
      for (let from = 0; from < bytes.length; from += CHUNK_BYTES)
        write(encodeStdin(bytes.subarray(from, from + CHUNK_BYTES)))
    },
    resize(next) {
      size = next
      write(encodeResize(next))
    },
    close: () => end({ kind: 'closed' }),
  }
}

interface Follower {
  opened(): void
  output(bytes: Uint8Array): void
  end(state: ExecState): void
}

function follow(socket: Socket, signal: AbortSignal, { opened, output, end }: Follower): void {
  socket.binaryType = 'arraybuffer'
  socket.addEventListener('open', opened, { signal })
  socket.addEventListener(
    'message',
    ({ data }: MessageEvent<unknown>) => {
      const read = data instanceof ArrayBuffer ? decodeExecFrame(new Uint8Array(data)) : undefined
      if (read?.kind === 'exit') end(endOf(read))
      else if (read !== undefined) output(read.bytes)
    },
    { signal },
  )
  for (const kind of ['close', 'error'] as const)
    socket.addEventListener(kind, () => end({ kind: 'lost' }), { signal })
}

function endOf({ exitCode, error }: Extract<ExecOutput, { kind: 'exit' }>): ExecState {
  return exitCode === undefined ? { kind: 'broken', reason: error ?? '' } : { kind: 'exited', code: exitCode }
}
