// A command run inside a container for a person: its input, its output, the size of its terminal, and its end. The engine
// lets such a command run on when nobody listens any more, so it is killed here by its process id. What has made itself a
// session of its own meanwhile (a daemon) is the container's, and ends with it.

import { readFileSync } from 'node:fs'
import type { Duplex } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import type Docker from 'dockerode'
import type { EngineExec, ExecCommand, ExecSink } from '../../ports/engine.ts'
import type { Caller } from './call.ts'
import { createDemultiplexer } from './demultiplex.ts'
import { openHijacked } from './hijack.ts'

const CALL_MS = 10_000
const SETTLE_MS = 50
const SETTLE_TRIES = 100
/** So often the end of a command is waited for whose outputs have ended, before it is brought about. */
const PATIENT_TRIES = 40

export async function startExec(
  caller: Caller,
  socketPath: string,
  containerId: string,
  { command, tty }: ExecCommand,
  sink: ExecSink,
): Promise<EngineExec> {
  const exec = await caller.call(CALL_MS, (docker, abortSignal) =>
    docker.getContainer(containerId).exec({
      ...{ Cmd: [...command], Tty: tty, abortSignal },
      ...{ AttachStdin: true, AttachStdout: true, AttachStderr: true },
    }),
  )
  const path = `/v${await caller.apiVersion()}/exec/${exec.id}/start`
  const body = { Detach: false, Tty: tty }
  const socket = await openHijacked({ socketPath, path, body, deadlineMs: CALL_MS })
  return converse({ caller, exec, containerId, socket, tty }, sink)
}

interface Running {
  readonly caller: Caller
  readonly exec: Docker.Exec
  readonly containerId: string
  readonly socket: Duplex
  readonly tty: boolean
}

function converse(running: Running, sink: ExecSink): EngineExec {
  const { caller, exec, socket, tty } = running
  let closed = false
  const tell = (exitCode: number | undefined): void => {
    if (!closed) sink.end(exitCode)
    closed = true
  }
  // A terminal has one output; without one the engine sends both in frames.
  const take = createDemultiplexer({ part: (channel, bytes) => sink.output(channel, bytes) })
  socket.on('data', tty ? (chunk: Buffer) => sink.output('stdout', chunk) : take)
  socket.on('error', () => {})
  socket.on('close', () => {
    if (!closed) settle(running, PATIENT_TRIES).then(tell, () => tell(undefined))
  })
  return {
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    // Whatever becomes of the bytes they are ours no more.
    write: (bytes, taken) => socket.write(bytes, taken),
    endInput: () => socket.end(),
    async resize(w, h) {
      await caller.call(CALL_MS, (_, abortSignal) => exec.resize({ w, h, abortSignal }))
    },
    close() {
      if (closed) return
      closed = true
      socket.destroy()
      settle(running, 0).catch(() => {})
    },
  }
}

/** Its exit code; what still runs is killed, and has none. A busy engine may not even have started it. */
async function settle({ caller, exec, containerId }: Running, patience: number): Promise<number | undefined> {
  for (let tries = 0; tries < SETTLE_TRIES; tries += 1) {
    const seen = await caller.call(CALL_MS, (_, abortSignal) => exec.inspect({ abortSignal }))
    if (!seen.Running && seen.ExitCode !== null) return seen.ExitCode
    if (seen.Running && seen.Pid > 0 && tries >= patience) killGroup(seen.Pid, containerId)
    await pause(SETTLE_MS)
  }
  return undefined
}

/**
 * The engine makes each command the first of a process group, so those that it started go with it. The number is looked at
 * first: an engine in a process namespace of its own would name somebody else's process.
 */
function killGroup(pid: number, containerId: string): void {
  try {
    if (!readFileSync(`/proc/${pid}/cgroup`, 'utf8').includes(containerId)) return
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It ended by itself in between.
  }
}
