// The volumes of a node in a separate process, composed as the agent composes them: a pool, its copies, the peer port and the
// replication. The process kills itself with SIGKILL at a command of its pool. The test acts as the server.

import { fork } from 'node:child_process'
import { createPrivateKey } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { DesiredCopy, NodeId, ObservedCopy, Peer, VolumeId } from '@holdfast/contract'
import pino from 'pino'
import { type Commands, systemCommands } from '../adapters/btrfs/commands.ts'
import { openBtrfsPool } from '../adapters/btrfs/open-pool.ts'
import { startCopyKeeper } from '../storage/keep-copies.ts'
import { startPoolKeeper } from '../storage/keep-pool.ts'
import { startPeers } from './start-peers.ts'

/** Delays of retries and limits on silence pass this many times faster. */
const CLOCK_RATE = 10
const FAST = 1024 ** 3

export interface NodePlace {
  readonly id: NodeId
  readonly key: string
  readonly port: number
  readonly folder: string
  readonly file: string
  readonly sizeBytes: number
}

/** The moment of death: when a command starts, which then continues without the agent, or when it has ended. */
export interface Death {
  /** Commands are counted from 1; at 0 the process stays alive. */
  readonly command: number
  readonly at: 'start' | 'end'
  /** Only commands with this text are counted. */
  readonly of?: string
}

/** The state that the test sends in its role as the server and as the engine. */
export interface NodeDesired {
  readonly copies: readonly DesiredCopy[]
  readonly peers: readonly Peer[]
  /** Whether a container may write the volumes. */
  readonly isWritten: boolean
  /** Volumes that one container writes. */
  readonly groups?: readonly (readonly VolumeId[])[]
}

/** `death`: kills the process at a command of the pool, counted from this message on. */
interface Sent {
  readonly desired?: NodeDesired
  readonly death?: Death
}

/** The answer to a message, after a round of the replication and a pass of the copies. */
export interface NodeSeen {
  readonly copies: readonly ObservedCopy[]
  /** The commands of the pool since the death was set. */
  readonly commands: number
  readonly logged: readonly string[]
}

export interface NodeProcess {
  /** Sends a message and waits for the answer; undefined if the process died. */
  send(sent: Sent): Promise<NodeSeen | undefined>
  /** The command at which the process died; undefined if it lives. */
  diedAt(): string | undefined
  kill(): Promise<void>
}

export async function startNodeProcess(place: NodePlace): Promise<NodeProcess> {
  rmSync(deathNote(place), { force: true })
  const child = fork(fileURLToPath(import.meta.url), [JSON.stringify(place)])
  let answer: (seen: NodeSeen | undefined) => void = () => {}
  let isGone = false
  const gone = new Promise<void>((resolve) =>
    child.once('exit', () => {
      isGone = true
      answer(undefined)
      resolve()
    }),
  )
  const next = (): Promise<NodeSeen | undefined> =>
    new Promise((resolve) => {
      answer = resolve
      if (isGone) resolve(undefined)
    })
  // A message to a process that has just died is lost; its exit answers.
  child.on('error', () => {})
  child.on('message', (seen: NodeSeen) => answer(seen))
  if ((await next()) === undefined) throw new Error('The agent ended at its start.')
  return {
    send(sent) {
      const answered = next()
      if (child.connected) child.send(sent)
      return answered
    },
    diedAt: () => (isGone ? readFileSync(deathNote(place), 'utf8') : undefined),
    async kill() {
      child.kill('SIGKILL')
      await gone
    },
  }
}

const deathNote = ({ folder }: NodePlace): string => join(folder, 'died-at')

/** Commands that kill this process; called in the child process. */
function mortalCommands(place: NodePlace): Commands & { arm(death: Death): void; count(): number } {
  let death: Death | undefined
  let count = 0
  const isDue = (args: readonly string[]): boolean => {
    if (death?.of !== undefined && !args.join(' ').includes(death.of)) return false
    count += 1
    return count === death?.command
  }
  const die = (file: string, args: readonly string[]): void => {
    writeFileSync(deathNote(place), `${death?.at} of ${[file, ...args].join(' ')}`)
    process.kill(process.pid, 'SIGKILL')
  }
  return {
    count: () => count,
    arm(next) {
      death = next
      count = 0
    },
    async run(file, args, deadlineMs) {
      const isLast = isDue(args)
      const running = systemCommands.run(file, args, deadlineMs)
      if (isLast && death?.at === 'start') die(file, args)
      if (isLast) await running.finally(() => die(file, args))
      return running
    },
    start(file, args) {
      const isLast = isDue(args)
      const running = systemCommands.start(file, args)
      if (isLast && death?.at === 'start') die(file, args)
      if (isLast) void running.ended.finally(() => die(file, args))
      return running
    },
  }
}

/** Runs the node; called in the child process. */
async function run(place: NodePlace): Promise<void> {
  const logged: string[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) })
  const monotonicMs = (): number => performance.now() * CLOCK_RATE
  const commands = mortalCommands(place)
  const { file, sizeBytes, folder, port } = place
  const pool = await startPoolKeeper({
    open: () => openBtrfsPool({ path: file, sizeBytes }, folder, commands),
    log,
  })
  const keeper = startCopyKeeper({
    pool,
    report: () => {},
    monotonicMs,
    now: () => new Date(),
    random: Math.random,
    log,
  })
  let desired: NodeDesired = { copies: [], peers: [], isWritten: true }
  const replication = await startPeers({
    settings: { address: '', host: '127.0.0.1', port, bytesPerSecond: FAST, allowLocal: true },
    identityKey: createPrivateKey(place.key),
    pool: pool.pool,
    copies: () => keeper.copies,
    peers: () => desired.peers,
    live: keeper,
    writers: {
      groups: () => desired.groups ?? [],
      hasWriter: async () => desired.isWritten,
      freeze: async () => async () => {},
    },
    onStored: () => void keeper.check(),
    onChange: () => {},
    monotonicMs,
    log,
  })
  const answer = (): void =>
    void process.send?.({
      copies: keeper.observed(),
      commands: commands.count(),
      logged: logged.splice(0),
    } satisfies NodeSeen)
  process.on('message', async (sent: Sent) => {
    if (sent.death !== undefined) commands.arm(sent.death)
    if (sent.desired !== undefined) {
      desired = sent.desired
      keeper.apply({ revision: 1, complete: true, items: [], gone: [], copies: desired.copies }, 'server')
    }
    await keeper.check()
    await replication.check()
    answer()
  })
  // The process exits when the test process is gone.
  process.on('disconnect', () => process.exit())
  answer()
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await run(JSON.parse(process.argv[2] ?? ''))
