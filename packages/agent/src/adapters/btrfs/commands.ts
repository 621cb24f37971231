// Runs the commands of a pool, each with a deadline. A failed command is a PoolError that names the command, its exit code
// and the last line of its stderr.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { env } from 'node:process'
import type { Readable, Writable } from 'node:stream'
import { type FailedCommand, PoolError, type PoolFault } from '../../ports/volume-pool.ts'

const DEADLINE_MS = 60_000
const MAX_OUTPUT = 64 * 1024 ** 2
const MAX_STDERR = 4096
const ENVIRONMENT = { ...env, LC_ALL: 'C' }

/** A process whose stdin or stdout is a stream. */
export interface StreamingProcess {
  readonly stdin: Writable
  readonly stdout: Readable
  /** Resolves if the process ended with exit code 0, otherwise rejects. */
  readonly ended: Promise<void>
  kill(): void
}

export interface Commands {
  /** Runs a command to its end and returns its stdout. */
  run(file: string, args: readonly string[], deadlineMs?: number): Promise<string>
  /** Starts a command that the caller ends, at the latest when no bytes move. */
  start(file: string, args: readonly string[]): StreamingProcess
}

export const systemCommands: Commands = { run: runCommand, start: startCommand }

function runCommand(file: string, args: readonly string[], deadlineMs = DEADLINE_MS): Promise<string> {
  const settings = { encoding: 'utf8', maxBuffer: MAX_OUTPUT, env: ENVIRONMENT } as const
  return new Promise((resolve, reject) => {
    const child = execFile(file, args, settings, (error, stdout, stderr) => {
      clearTimeout(timer)
      if (error === null) resolve(stdout)
      else reject(commandError(describe(file, args), error, child, stderr))
    })
    // A killed process that waits for the disk does not end, so the deadline does not wait for it.
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      const late = new Error(`no end within ${deadlineMs} ms`)
      reject(commandError(describe(file, args), late, child, ''))
    }, deadlineMs)
  })
}

function startCommand(file: string, args: readonly string[]): StreamingProcess {
  const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'pipe'], env: ENVIRONMENT })
  let stderr = ''
  child.stderr.on('data', (bytes: Buffer) => {
    stderr = (stderr + bytes.toString('utf8')).slice(-MAX_STDERR)
  })
  const ended = new Promise<void>((resolve, reject) => {
    const fail = (error?: Error): void => reject(commandError(describe(file, args), error, child, stderr))
    child.once('error', fail)
    child.once('close', (code) => (code === 0 ? resolve() : fail()))
  })
  // The caller awaits `ended` after the streams; until then a rejection must not count as unhandled.
  ended.catch(() => {})
  return { stdin: child.stdin, stdout: child.stdout, ended, kill: () => void child.kill('SIGKILL') }
}

const describe = (file: string, args: readonly string[]): string => [file, ...args].join(' ')

function commandError(
  command: string,
  error: Error | undefined,
  child: ChildProcess,
  stderr: string,
): PoolError {
  const lastLine = lastLineOf(stderr) || (error?.message ?? '')
  const failed = { command, exitCode: child.exitCode ?? undefined, lastLine }
  const isAbsent = error !== undefined && 'code' in error && error.code === 'ENOENT'
  return new PoolError(isAbsent ? 'unsupported' : faultOf(failed), explain(failed), failed)
}

export function lastLineOf(stderr: string): string {
  return stderr.trimEnd().split('\n').at(-1)?.trim() ?? ''
}

export function faultOf({ exitCode, lastLine }: FailedCommand): PoolFault {
  if (exitCode === undefined) return 'timeout'
  if (/No space left on device|Disk quota exceeded/.test(lastLine)) return 'full'
  if (/target is busy|Device or resource busy/.test(lastLine)) return 'busy'
  return 'failed'
}

function explain({ command, exitCode, lastLine }: FailedCommand): string {
  const end = exitCode === undefined ? 'did not end on its own' : `failed with exit code ${exitCode}`
  return `${command} ${end}: ${lastLine || 'no output'}`
}
