// The terminal of this process. The first Ctrl-C or signal lets the command clean up; the second ends the process.

import { on } from 'node:events'
import { stderr, stdin, stdout } from 'node:process'
import { addAbortSignal } from 'node:stream'
import { EXIT } from '../exit-codes.ts'
import type { Terminal } from './terminal.ts'

export interface RealTerminalOptions {
  readonly env: { readonly [name: string]: string | undefined }
  /** Whether color is allowed; false with `--no-color`. */
  readonly color: boolean
}

const DEFAULT_COLUMNS = 80
const DEFAULT_ROWS = 24

export function createRealTerminal({ env, color }: RealTerminalOptions): Terminal {
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      if (interrupted.signal.aborted) process.exit(EXIT.interrupted)
      interrupted.abort()
    })
  endQuietlyOnBrokenPipe()
  return {
    out: (text) => void stdout.write(text),
    err: (text) => void stderr.write(text),
    outIsTerminal: stdout.isTTY === true,
    errIsTerminal: stderr.isTTY === true,
    inIsTerminal: stdin.isTTY === true,
    // Any non-empty value of NO_COLOR disables color (https://no-color.org).
    color: color && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb',
    columns: () => stdout.columns ?? DEFAULT_COLUMNS,
    rows: () => stdout.rows ?? DEFAULT_ROWS,
    readInput: () => readInput(interrupted.signal),
    askSecret: (question) => askSecret(question, interrupted),
    ask: (question) => ask(question, interrupted),
    interrupted: interrupted.signal,
    now: Date.now,
  }
}

/** Exits without an error if the reader of a pipe closes it early, as in `holdfast get deployments | head -1`. */
function endQuietlyOnBrokenPipe(): void {
  for (const stream of [stdout, stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(EXIT.ok)
      throw error
    })
  }
}

/** Reads stdin to its end. The first Ctrl-C stops reading. */
async function readInput(interrupted: AbortSignal): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  for await (const chunk of addAbortSignal(interrupted, stdin)) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

const BACKSPACES = new Set(['\b', '\x7f'])
const CTRL_C = '\x03'
/** Keys that end a typed line: Enter or Ctrl-D. */
const ENDS = new Set(['\r', '\n', '\x04'])

/** Prompts for a secret without echo, and restores the terminal mode on every exit. */
async function askSecret(question: string, interrupted: AbortController): Promise<string | undefined> {
  if (stdin.isTTY !== true || stderr.isTTY !== true) return undefined
  stderr.write(question)
  stdin.setRawMode(true)
  stdin.resume()
  try {
    return await typedLine(interrupted)
  } finally {
    stdin.setRawMode(false)
    stdin.pause()
    stderr.write('\n')
  }
}

async function ask(question: string, interrupted: AbortController): Promise<string | undefined> {
  if (stdin.isTTY !== true || stderr.isTTY !== true) return undefined
  const { createInterface } = await import('node:readline/promises')
  const prompt = createInterface({ input: stdin, output: stderr })
  prompt.once('SIGINT', () => interrupted.abort())
  try {
    return await prompt.question(question, { signal: interrupted.signal })
  } finally {
    prompt.close()
  }
}

/** Reads one typed line. Rejects on a signal, and on Ctrl-C, which arrives as a key in raw mode. */
async function typedLine(interrupted: AbortController): Promise<string> {
  const decoder = new TextDecoder()
  const typed: string[] = []
  for await (const [chunk] of on(stdin, 'data', { signal: interrupted.signal })) {
    for (const character of decoder.decode(chunk, { stream: true })) {
      if (ENDS.has(character)) return typed.join('')
      if (character === CTRL_C) interrupted.abort()
      else if (BACKSPACES.has(character)) typed.pop()
      else typed.push(character)
    }
  }
  return typed.join('')
}
