// Runs a readiness probe inside a container and returns its exit code and the beginning of its output. A probe that
// exceeds its timeout is killed, as the engine kills its own health checks.

import { setTimeout as pause } from 'node:timers/promises'
import type Docker from 'dockerode'
import type { BoundedText, ProbeResult } from '../../ports/engine.ts'
import type { Caller } from './call.ts'
import { checkOutput } from './decode.ts'
import { createDemultiplexer } from './demultiplex.ts'
import { killProcess } from './kill-in-container.ts'

const CALL_MS = 10_000
const SETTLE_MS = 100
const SETTLE_TRIES = 100
/** Output beyond this many bytes is dropped, as the engine does with the output of its own checks. */
const MAX_OUTPUT_BYTES = 4096

export async function runProbe(
  caller: Caller,
  containerId: string,
  command: readonly string[],
  timeoutMs: number,
): Promise<ProbeResult> {
  const exec = await caller.call(CALL_MS, (docker, abortSignal) =>
    docker
      .getContainer(containerId)
      .exec({ Cmd: [...command], AttachStdout: true, AttachStderr: true, abortSignal }),
  )
  const output = await caller.call(timeoutMs + CALL_MS, (_, signal) => collectOutput(exec, timeoutMs, signal))
  const exitCode = await settle(caller, exec, containerId)
  if (exitCode !== undefined) return { exitCode, output: checkOutput(exitCode, output) }
  const printed = output.text.trim() === '' ? '' : `: ${output.text}`
  return { exitCode, output: { text: `no end within ${timeoutMs / 1000} s${printed}`, isCut: output.isCut } }
}

/**
 * Returns the exit code of a probe; kills a probe that still runs, and returns undefined. Polls several times, because a
 * busy engine may not have started the probe yet.
 */
async function settle({ call }: Caller, exec: Docker.Exec, containerId: string): Promise<number | undefined> {
  for (let left = SETTLE_TRIES; left > 0; left -= 1) {
    const { Running, ExitCode, Pid } = await call(CALL_MS, (_, abortSignal) => exec.inspect({ abortSignal }))
    if (!Running && ExitCode !== null) return ExitCode
    // Pid is the process id on the host; it is 0 before the start and after the end of the process.
    if (Running && Pid > 0) {
      killProcess(Pid, containerId)
      return undefined
    }
    await pause(SETTLE_MS)
  }
  return undefined
}

/** Reads the beginning of a probe's output until the stream ends, because its process ended or the timeout passed. */
async function collectOutput(
  exec: Docker.Exec,
  timeoutMs: number,
  abortSignal: AbortSignal,
): Promise<BoundedText> {
  const stream = await exec.start({ Detach: false, Tty: false, abortSignal })
  const kept: Buffer[] = []
  let left = MAX_OUTPUT_BYTES
  let isCut = false
  const demultiplex = createDemultiplexer({
    part(_, bytes) {
      isCut ||= bytes.length > left
      // A copy: the bytes are a view of a larger chunk, which they would keep in memory.
      if (left > 0) kept.push(Buffer.from(bytes.subarray(0, left)))
      left = Math.max(0, left - bytes.length)
    },
  })
  const timer = setTimeout(() => stream.destroy(), timeoutMs)
  await new Promise<void>((resolve) => {
    stream.on('close', resolve)
    stream.on('error', () => resolve())
    stream.on('data', demultiplex)
  })
  clearTimeout(timer)
  return { text: Buffer.concat(kept).toString('utf8'), isCut }
}
