// Runs a command inside a container for a user: input, output, terminal size and exit code. The engine keeps a command
// running after its connection closes, so the agent kills the command by its process id. A process that started its own
// session, such as a daemon, is not killed; it ends with the container.

import type { Duplex } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import type Docker from 'dockerode'
import type { EngineExec, ExecCommand, ExecSink } from '../../ports/engine.ts'
import type { Caller } from './call.ts'
import { createDemultiplexer } from './demultiplex.ts'
import { openHijacked } from './hijack.ts'
import { killGroup } from './kill-in-container.ts'

const CALL_MS = 10_000
const SETTLE_MS = 50
const SETTLE_TRIES = 100
/** Number of checks whether a command has exited after its outputs ended; after the last check the command is killed. */
const CHECKS_BEFORE_KILL = 40

export async function startExec(
  caller: Caller,
  socketPath: string,
  containerId: string,
  { command, tty }: ExecCommand,
  sink: ExecSink,
): Promise<EngineExec> {
  const exec = await caller.call(CALL_MS, (docker, abortSignal) =>
    docker.getContainer(containerId).exec({
      Cmd: [...command],
      Tty: tty,
      abortSignal,
      AttachStdin: true,
      AttachStdout: true,
      AttachStderr: true,
    }),
  )
  const path = `/v${await caller.apiVersion()}/exec/${exec.id}/start`
  const body = { Detach: false, Tty: tty }
  const socket = await openHijacked({ socketPath, path, body, deadlineMs: CALL_MS })
  return attachSink({ caller, exec, containerId, socket, tty }, sink)
}

interface RunningExec {
  readonly caller: Caller
  readonly exec: Docker.Exec
  readonly containerId: string
  readonly socket: Duplex
  readonly tty: boolean
}

function attachSink(running: RunningExec, sink: ExecSink): EngineExec {
  const { caller, exec, socket, tty } = running
  let closed = false
  const reportEnd = (exitCode: number | undefined): void => {
    if (!closed) sink.end(exitCode)
    closed = true
  }
  // With a terminal the engine sends one output; without a terminal it sends stdout and stderr in frames.
  const demultiplex = createDemultiplexer({ part: (channel, bytes) => sink.output(channel, bytes) })
  socket.on('data', tty ? (chunk: Buffer) => sink.output('stdout', chunk) : demultiplex)
  // Errors need no handling of their own, because a close event follows every error of the socket.
  socket.on('error', () => {})
  socket.on('close', () => {
    if (!closed) settle(running, CHECKS_BEFORE_KILL).then(reportEnd, () => reportEnd(undefined))
  })
  return {
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    // `onWritten` is called on success and on failure, because either way the bytes no longer need a buffer.
    write: (bytes, onWritten) => socket.write(bytes, onWritten),
    endInput: () => socket.end(),
    async resize(w, h) {
      await caller.call(CALL_MS, (_, abortSignal) => exec.resize({ w, h, abortSignal }))
    },
    close() {
      if (closed) return
      closed = true
      socket.destroy()
      // Errors are ignored: the caller has closed the stream, and a command that cannot be killed ends with its
      // container.
      settle(running, 0).catch(() => {})
    },
  }
}

/**
 * Resolves with the exit code of a command; undefined if the engine reports none in time. A command that still runs
 * after `checksBeforeKill` checks is killed.
 */
async function settle(
  { caller, exec, containerId }: RunningExec,
  checksBeforeKill: number,
): Promise<number | undefined> {
  for (let tries = 0; tries < SETTLE_TRIES; tries += 1) {
    const { Running, ExitCode, Pid } = await caller.call(CALL_MS, (_, abortSignal) =>
      exec.inspect({ abortSignal }),
    )
    if (!Running && ExitCode !== null) return ExitCode
    if (Running && Pid > 0 && tries >= checksBeforeKill) killGroup(Pid, containerId)
    await pause(SETTLE_MS)
  }
  return undefined
}
