// Connects this terminal to a command in a container over a WebSocket. With -it every key is forwarded, including Ctrl-C.
// The terminal mode is restored however the session ends.

import { stdin, stdout } from 'node:process'
import { decodeExecFrame, encodeResize, encodeStdin } from '@holdfast/client'
import { EXEC_SUBPROTOCOL } from '@holdfast/contract'
import { WebSocket } from 'ws'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { printError } from '../print/failure.ts'
import type { Terminal } from '../terminal/terminal.ts'

export interface ExecOptions {
  readonly tty: boolean
  readonly input: boolean
}

const HANDSHAKE_MS = 10_000
/** Number of unsent bytes above which exec stops reading stdin. */
const MAX_BUFFERED_BYTES = 256 * 1024
const POLL_MS = 20
/**
 * Time without a message or ping from the server, which pings every 30 s, after which exec ends. With -it Ctrl-C is
 * forwarded, so only this timeout ends an exec on a dead connection.
 */
const IDLE_TIMEOUT_MS = 100_000
/** The maximum message size that the server accepts. */
const CHUNK_BYTES = 16 * 1024

export async function runExec(terminal: Terminal, url: string, options: ExecOptions): Promise<ExitCode> {
  const socket = new WebSocket(url, EXEC_SUBPROTOCOL, {
    handshakeTimeout: HANDSHAKE_MS,
    perMessageDeflate: false,
  })
  const stop = (): void => socket.terminate()
  terminal.interrupted.addEventListener('abort', stop)
  let release = (): void => {}
  const idleTimer = setTimeout(stop, IDLE_TIMEOUT_MS)
  try {
    return await new Promise((resolve) => {
      socket.on('open', () => {
        release = attach(socket, options)
      })
      for (const activity of ['open', 'ping', 'message']) socket.on(activity, () => idleTimer.refresh())
      socket.on('message', (data, isBinary) => {
        const output = isBinary && Buffer.isBuffer(data) ? decodeExecFrame(data) : undefined
        if (output?.kind === 'exit') resolve(exitCodeOf(terminal, output))
        else if (output?.kind === 'stdout') terminal.out(output.bytes)
        else if (output !== undefined) terminal.err(output.bytes)
      })
      socket.on('error', ({ message }) => {
        if (terminal.interrupted.aborted) return resolve(EXIT.interrupted)
        printError(terminal, `cannot connect to the command: ${message}`)
        resolve(EXIT.unreachable)
      })
      socket.on('close', () => {
        if (terminal.interrupted.aborted) return resolve(EXIT.interrupted)
        printError(terminal, 'the connection to the command was lost')
        resolve(EXIT.unreachable)
      })
      if (terminal.interrupted.aborted) stop()
    })
  } finally {
    release()
    clearTimeout(idleTimer)
    terminal.interrupted.removeEventListener('abort', stop)
    socket.removeAllListeners()
    // Ignores late errors of the closing socket: the result is known, and an unhandled error would crash the process.
    socket.on('error', () => {})
    socket.close()
  }
}

function exitCodeOf(
  terminal: Terminal,
  { exitCode, error }: { readonly exitCode?: number; readonly error?: string },
): ExitCode {
  if (exitCode !== undefined) return exitCode
  printError(
    terminal,
    error === 'node_unreachable'
      ? 'the node cannot be reached; the command may not have run'
      : `the exit code of the command is unknown: ${error ?? 'the connection was closed'}`,
  )
  return EXIT.error
}

/** Connects stdin and stdout to the socket. Returns a function that restores the terminal. */
function attach(socket: WebSocket, { tty, input }: ExecOptions): () => void {
  const resize = (): void =>
    socket.send(encodeResize({ cols: stdout.columns ?? 80, rows: stdout.rows ?? 24 }))
  const forward = (chunk: Buffer): void => {
    for (let from = 0; from < chunk.length; from += CHUNK_BYTES)
      socket.send(encodeStdin(chunk.subarray(from, from + CHUNK_BYTES)))
    if (socket.bufferedAmount > MAX_BUFFERED_BYTES) pauseInput(socket)
  }
  const end = (): void => socket.send(encodeStdin(new Uint8Array()))
  if (tty) {
    resize()
    stdout.on('resize', resize)
  }
  // Raw mode forwards Ctrl-C as a key, so it is used only with -i. Without -i, Ctrl-C must end this process.
  if (tty && input) stdin.setRawMode(true)
  if (input) {
    stdin.on('data', forward)
    stdin.on('end', end)
    stdin.resume()
  } else if (!tty) end()
  return () => {
    if (tty && input) stdin.setRawMode(false)
    stdout.off('resize', resize)
    stdin.off('data', forward)
    stdin.off('end', end)
    stdin.pause()
    stdin.unref?.()
  }
}

/** Stops reading stdin until the number of unsent bytes is at most half of MAX_BUFFERED_BYTES. */
function pauseInput(socket: WebSocket): void {
  stdin.pause()
  const timer = setInterval(() => {
    if (socket.readyState === WebSocket.OPEN && socket.bufferedAmount > MAX_BUFFERED_BYTES / 2) return
    clearInterval(timer)
    if (socket.readyState === WebSocket.OPEN) stdin.resume()
  }, POLL_MS)
}
