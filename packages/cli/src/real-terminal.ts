// The terminal of this process. A signal asks once to end in order; a second one ends at once.

import { stderr, stdin, stdout } from 'node:process'
import { EXIT } from './exit-codes.ts'
import type { Terminal } from './terminal.ts'

export interface RealTerminalOptions {
  readonly env: { readonly [name: string]: string | undefined }
  /** False where `--no-color` was given. */
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
    // https://no-color.org: set and not empty.
    color: color && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb',
    columns: () => stdout.columns ?? DEFAULT_COLUMNS,
    rows: () => stdout.rows ?? DEFAULT_ROWS,
    readInput,
    askSecret,
    interrupted: interrupted.signal,
    now: Date.now,
  }
}

/** `holdfast get deployments | head -1` is no error: who reads no more wants no more. */
function endQuietlyOnBrokenPipe(): void {
  for (const stream of [stdout, stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(EXIT.ok)
      throw error
    })
  }
}

async function readInput(): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

const BACKSPACES = new Set(['\b', '\x7f'])
const CTRL_C = '\x03'
/** Enter, or the end of what is typed. */
const ENDS = new Set(['\r', '\n', '\x04', CTRL_C])

/** The terminal is set back whatever happens. */
async function askSecret(question: string): Promise<string | undefined> {
  if (stdin.isTTY !== true || stderr.isTTY !== true) return undefined
  stderr.write(question)
  stdin.setRawMode(true)
  stdin.resume()
  try {
    return await new Promise((resolve) => {
      let typed = ''
      stdin.on('data', function take(chunk: Buffer) {
        for (const character of chunk.toString()) {
          const end = ENDS.has(character)
          if (BACKSPACES.has(character)) typed = typed.slice(0, -1)
          else if (!end) typed += character
          if (!end) continue
          stdin.off('data', take)
          resolve(character === CTRL_C ? undefined : typed)
          return
        }
      })
    })
  } finally {
    stdin.setRawMode(false)
    stdin.pause()
    stderr.write('\n')
  }
}
