// Runs a readiness probe inside a container and returns only its exit code, never its output. A probe that exceeds its
// timeout is killed, as the engine kills its own health checks.

import { setTimeout as pause } from 'node:timers/promises'
import type Docker from 'dockerode'
import type { Caller } from './call.ts'

const CALL_MS = 10_000
const SETTLE_MS = 100
const SETTLE_TRIES = 100

export async function runProbe(
  caller: Caller,
  containerId: string,
  command: readonly string[],
  timeoutMs: number,
): Promise<number | undefined> {
  const exec = await caller.call(CALL_MS, (docker, abortSignal) =>
    docker
      .getContainer(containerId)
      .exec({ Cmd: [...command], AttachStdout: true, AttachStderr: true, abortSignal }),
  )
  await caller.call(timeoutMs + CALL_MS, (_, signal) => untilEnd(exec, timeoutMs, signal))
  return settle(caller, exec)
}

/**
 * Returns the exit code of a probe; kills a probe that still runs, and returns undefined. Polls several times, because a
 * busy engine may not have started the probe yet.
 */
async function settle({ call }: Caller, exec: Docker.Exec): Promise<number | undefined> {
  for (let left = SETTLE_TRIES; left > 0; left -= 1) {
    const { Running, ExitCode, Pid } = await call(CALL_MS, (_, abortSignal) => exec.inspect({ abortSignal }))
    if (!Running && ExitCode !== null) return ExitCode
    // Pid is the process id on the host; it is 0 before the start and after the end of the process.
    if (Running && Pid > 0) {
      kill(Pid)
      return undefined
    }
    await pause(SETTLE_MS)
  }
  return undefined
}

/** Resolves when the probe's output stream ends, because its process ended or the timeout passed. Drops the output. */
async function untilEnd(exec: Docker.Exec, timeoutMs: number, abortSignal: AbortSignal): Promise<void> {
  const stream = await exec.start({ Detach: false, Tty: false, abortSignal })
  const timer = setTimeout(() => stream.destroy(), timeoutMs)
  await new Promise<void>((resolve) => {
    stream.on('close', resolve)
    stream.on('error', () => resolve())
    stream.resume()
  })
  clearTimeout(timer)
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process ended before it could be killed, which is no error.
  }
}
