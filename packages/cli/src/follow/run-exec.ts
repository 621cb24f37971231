// The socket of an exec between this terminal and the container. With -it every key goes there, Ctrl-C too; however it
// ends, this terminal is set back.

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
/** What may be on its way before stdin is read no further. */
const MOST_BUFFERED = 256 * 1024
const POLL_MS = 20
/** The server asks every 30 s whether somebody is there. Without this a dead line would keep a terminal whose Ctrl-C goes there. */
const SILENCE_MS = 100_000
/** The server takes no longer message. */
const PIECE_BYTES = 16 * 1024

export async function runExec(terminal: Terminal, url: string, options: ExecOptions): Promise<ExitCode> {
  const socket = new WebSocket(url, EXEC_SUBPROTOCOL, {
    handshakeTimeout: HANDSHAKE_MS,
    perMessageDeflate: false,
  })
  const stop = (): void => socket.terminate()
  terminal.interrupted.addEventListener('abort', stop)
  let release = (): void => {}
  const patience = setTimeout(stop, SILENCE_MS)
  try {
    return await new Promise((resolve) => {
      socket.on('open', () => {
        release = attach(socket, options)
      })
      for (const heard of ['open', 'ping', 'message']) socket.on(heard, () => patience.refresh())
      socket.on('message', (data, isBinary) => {
        const output = isBinary && Buffer.isBuffer(data) ? decodeExecFrame(data) : undefined
        if (output?.kind === 'exit') resolve(exitCodeOf(terminal, output))
        else if (output?.kind === 'stdout') terminal.out(output.bytes)
        else if (output !== undefined) terminal.err(output.bytes)
      })
      socket.on('error', ({ message }) => {
        if (terminal.interrupted.aborted) return resolve(EXIT.interrupted)
        printError(terminal, `the command cannot be reached: ${message}`)
        resolve(EXIT.unreachable)
      })
      socket.on('close', () => {
        if (terminal.interrupted.aborted) return resolve(EXIT.interrupted)
        printError(terminal, 'the connection to the command was cut')
        resolve(EXIT.unreachable)
      })
      if (terminal.interrupted.aborted) stop()
    })
  } finally {
    release()
    clearTimeout(patience)
    terminal.interrupted.removeEventListener('abort', stop)
    socket.removeAllListeners()
    socket.on('error', () => {})
    socket.close()
  }
}

function exitCodeOf(
  terminal: Terminal,
  { exitCode, error }: { readonly exitCode?: number; readonly error?: string },
): ExitCode {
  if (exitCode !== undefined) return exitCode
  printError(terminal, `how the command ended is not known: ${error ?? 'closed'}`)
  return EXIT.error
}

/** Gives what sets the terminal back. */
function attach(socket: WebSocket, { tty, input }: ExecOptions): () => void {
  const resize = (): void =>
    socket.send(encodeResize({ cols: stdout.columns ?? 80, rows: stdout.rows ?? 24 }))
  const take = (chunk: Buffer): void => {
    for (let from = 0; from < chunk.length; from += PIECE_BYTES)
      socket.send(encodeStdin(chunk.subarray(from, from + PIECE_BYTES)))
    if (socket.bufferedAmount > MOST_BUFFERED) holdInput(socket)
  }
  const end = (): void => socket.send(encodeStdin(new Uint8Array()))
  if (tty) {
    resize()
    stdout.on('resize', resize)
  }
  // Where no key is passed on, Ctrl-C is for this side.
  if (tty && input) stdin.setRawMode(true)
  if (input) {
    stdin.on('data', take)
    stdin.on('end', end)
    stdin.resume()
  } else if (!tty) end()
  return () => {
    if (tty && input) stdin.setRawMode(false)
    stdout.off('resize', resize)
    stdin.off('data', take)
    stdin.off('end', end)
    stdin.pause()
    stdin.unref?.()
  }
}

/** Until what was typed is on its way. */
function holdInput(socket: WebSocket): void {
  stdin.pause()
  const timer = setInterval(() => {
    if (socket.readyState === WebSocket.OPEN && socket.bufferedAmount > MOST_BUFFERED / 2) return
    clearInterval(timer)
    if (socket.readyState === WebSocket.OPEN) stdin.resume()
  }, POLL_MS)
}
