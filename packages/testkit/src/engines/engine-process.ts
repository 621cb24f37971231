// One engine process. It dies with the process that started it, even after kill -9, unless it was started detached.

import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { env } from 'node:process'
import { waitUntil } from '../wait-until.ts'
import { engineBinary } from './engine-binaries.ts'
import { waitUntilStopped } from './process-record.ts'

export interface EngineCommand {
  readonly binary: string
  readonly args: readonly string[]
  /** Variables that are added to those of this process; an undefined one is removed. */
  readonly env?: { readonly [name: string]: string | undefined }
  /** File to which stdout and stderr are appended; its last lines are quoted if the engine does not start. */
  readonly logFile: string
  /**
   * If true, the engine runs in its own session and outlives the process that started it. The caller ends it by its pid.
   */
  readonly detached?: boolean
}

export interface EngineProcess {
  readonly pid: number
  /** Resolves when the engine process has exited for any reason: with its exit code, or with null after a signal. */
  readonly exited: Promise<number | null>
  hasExited(): boolean
  /** Sends SIGKILL to the engine; resolves when its process has exited. */
  kill(): Promise<void>
  /** Sends SIGTERM to the engine; resolves when its process has exited. The error of a process that stays quotes its log. */
  terminate(): Promise<void>
  /** Stops the engine with SIGSTOP: it is alive and silent, with its sockets open. The engine has stopped on return. */
  pause(): void
  resume(): void
  logTail(): string
}

// At a normal exit of this process its engines are killed first, so that no engine writes to a folder that is being
// removed.
const bound = new Set<ChildProcess>()
process.prependOnceListener('exit', () => {
  for (const child of bound) child.kill('SIGKILL')
})

/** Starts an engine process without waiting until the engine is ready. */
export function startEngineProcess(command: EngineCommand): EngineProcess {
  const child = spawnChild(command)
  const { pid } = child
  if (pid === undefined) throw new Error(`${command.binary} could not be started.`)
  let gone = false
  const exited = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => {
      gone = true
      resolve(code)
    })
  })
  return {
    pid,
    exited,
    hasExited: () => gone,
    kill: async () => {
      child.ref()
      child.kill('SIGKILL')
      await exited
    },
    terminate: async () => {
      child.ref()
      child.kill('SIGTERM')
      await waitUntil(() => gone, {
        what: `${command.binary} ends after SIGTERM`,
      }).catch((error: Error) => {
        throw new Error(`${error.message} ${lastLines(command.logFile)}`)
      })
    },
    pause: () => {
      child.kill('SIGSTOP')
      waitUntilStopped(pid)
    },
    resume: () => void child.kill('SIGCONT'),
    logTail: () => lastLines(command.logFile),
  }
}

function spawnChild(command: EngineCommand): ChildProcess {
  const detached = command.detached === true
  const log = openSync(command.logFile, 'a')
  // The kernel kills the child when the thread that started it ends, so no exit handler has to run.
  const launcher = detached ? [] : [engineBinary('setpriv'), '--pdeathsig', 'KILL']
  const [file = '', ...args] = [...launcher, command.binary, ...command.args]
  const child = spawn(file, args, {
    stdio: ['ignore', log, log],
    env: { ...env, ...command.env },
    detached,
  })
  closeSync(log)
  child.on('error', () => {})
  if (!detached) bound.add(child.once('exit', () => bound.delete(child)))
  // A running engine must not keep a test process or a script from ending.
  child.unref()
  return child
}

function lastLines(file: string): string {
  if (!existsSync(file)) return '(no output)'
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-15).join('\n')
}
