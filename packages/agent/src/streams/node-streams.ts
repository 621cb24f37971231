// The byte streams that the server opens on this node: container logs, commands in containers, and quarantined data of
// volumes. Streams reach only containers of this node's tenant, found by the assignment's labels, and the pool that this
// tenant uses. See docs/design/agent.md#streams.

import {
  type Open,
  STREAM_HEADER_BYTES,
  STREAMS_PER_NODE,
  type StreamError,
  type TenantId,
} from '@holdfast/contract'
import { readOwnLabels } from '@holdfast/core/node'
import type { Logger } from 'pino'
import { type Engine, isFault, type ListedContainer } from '../ports/engine.ts'
import type { OpenSessionStreams, StreamSocket } from '../ports/streams.ts'
import { PoolError } from '../ports/volume-pool.ts'
import type { Divergences } from '../storage/divergences.ts'
import { openDivergenceStream } from './divergence-stream.ts'
import { openExecStream } from './exec-stream.ts'
import type { KeptLogs } from './kept-logs.ts'
import { openKeptStream } from './kept-stream.ts'
import { createLink, type Link } from './link.ts'
import { openLogStream } from './log-stream.ts'
import { createOutgoing, type Outgoing } from './outgoing.ts'
import type { NodeStream, StreamEnd } from './stream.ts'

/** Initial credit for input, in bytes: the most that the server may have in flight to one stream. */
const INPUT_BYTES = 128 * 1024
/** Streams of quarantined data at the same time; each reads the disk as fast as it can. */
const DIVERGENCE_STREAMS = 2

export interface StreamDeps {
  readonly engine: Pick<Engine, 'listContainers' | 'readLogs' | 'startExec'>
  readonly tenant: TenantId
  readonly keptLogs: Pick<KeptLogs, 'read'>
  /** Undefined if the node has no pool. */
  readonly divergences?: Pick<Divergences, 'read'>
  readonly log: Logger
}

interface Entry {
  readonly kind: Open['kind']
  readonly outgoing: Outgoing
  /** The open stream; undefined until the engine has answered. */
  stream: NodeStream | undefined
  /** Frames that arrived before the engine's answer; the input credit limits their size. */
  early: Buffer[]
  /** Bytes of input consumed since credit was last granted to the server. */
  consumed: number
  ended: boolean
}

interface StreamSession {
  readonly deps: StreamDeps
  readonly socket: StreamSocket
  readonly link: Link
  readonly entries: Map<number, Entry>
}

export function createSessionStreams(deps: StreamDeps): OpenSessionStreams {
  return (socket) => {
    const session: StreamSession = { deps, socket, link: createLink(socket), entries: new Map() }
    return {
      handle(message) {
        if (message.type === 'open') start(session, message)
        const entry = session.entries.get(message.stream)
        if (entry === undefined) return
        if (message.type === 'credit') entry.outgoing.credit(Math.max(0, message.bytes))
        if (message.type === 'end') drop(session, message.stream, entry)
      },
      frame: (frame) => handleFrame(session, frame),
      close() {
        session.link.close()
        for (const [id, entry] of [...session.entries]) drop(session, id, entry)
      },
    }
  }
}

function start(session: StreamSession, open: Open): void {
  const { entries, socket, link, deps } = session
  const id = open.stream
  if (entries.has(id)) return
  if (entries.size >= STREAMS_PER_NODE || isBusy(entries, open)) {
    socket.sendMessage({ type: 'end', stream: id, error: 'too_many_streams' })
    return
  }
  const outgoing = createOutgoing(link, id, () => entry.stream?.onRoom())
  const entry: Entry = { kind: open.kind, outgoing, stream: undefined, early: [], consumed: 0, ended: false }
  entries.set(id, entry)
  const onEnd = (end: StreamEnd): void => {
    entry.ended = true
    outgoing.finish(() => {
      if (entries.delete(id)) socket.sendMessage({ type: 'end', stream: id, ...end })
    })
  }
  openSource(deps, open, outgoing, onEnd).then(
    (stream) => started(session, id, entry, stream),
    (error: unknown) => {
      deps.log.info({ stream: id, kind: open.kind, error: String(error) }, 'stream open failed')
      onEnd({ error: error instanceof StreamFault ? error.reason : explain(error) })
    },
  )
  if (open.kind === 'exec') socket.sendMessage({ type: 'credit', stream: id, bytes: INPUT_BYTES })
}

const isBusy = (entries: StreamSession['entries'], { kind }: Open): boolean =>
  kind === 'divergence' &&
  [...entries.values()].filter((entry) => entry.kind === kind).length >= DIVERGENCE_STREAMS

class StreamFault extends Error {
  readonly reason: StreamError

  constructor(reason: StreamError) {
    super(reason)
    this.reason = reason
  }
}

/** Converts an error for the server. The container existed a moment ago, so a conflict means that it no longer runs. */
function explain(error: unknown): StreamError {
  if (error instanceof PoolError) return 'data_unreadable'
  if (isFault(error, 'not_found')) return 'container_not_found'
  return isFault(error, 'conflict') ? 'container_not_running' : 'engine_unavailable'
}

async function openSource(
  { engine, tenant, keptLogs, divergences }: StreamDeps,
  open: Open,
  outgoing: Outgoing,
  onEnd: (end: StreamEnd) => void,
): Promise<NodeStream> {
  if (open.kind === 'divergence') {
    const stream = divergences && (await openDivergenceStream(divergences, open, outgoing, onEnd))
    if (stream === undefined) throw new StreamFault('data_not_found')
    return stream
  }
  if (open.previous === true) return openKeptStream(keptLogs, open, outgoing, onEnd)
  const container = pick(await engine.listContainers(), tenant, open)
  if (container === undefined) throw new StreamFault('container_not_found')
  if (open.kind === 'logs') return openLogStream(engine, container.id, open, outgoing, onEnd)
  if (container.state !== 'running') throw new StreamFault('container_not_running')
  return openExecStream(engine, container.id, open, outgoing, onEnd)
}

function pick(
  listed: readonly ListedContainer[],
  tenant: TenantId,
  { assignmentId }: Open,
): ListedContainer | undefined {
  const own = listed.filter(({ labels }) => readOwnLabels(labels, tenant)?.assignmentId === assignmentId)
  const newest = own.toSorted((left, right) => right.createdAt - left.createdAt)
  return newest.find(({ state }) => state === 'running') ?? newest[0]
}

function started(session: StreamSession, id: number, entry: Entry, stream: NodeStream): void {
  // The server closed the stream before the engine answered, so the new stream is closed at once.
  if (session.entries.get(id) !== entry && !entry.ended) {
    stream.close()
    return
  }
  entry.stream = stream
  for (const frame of entry.early) input(session, id, entry, frame)
  entry.early = []
}

function handleFrame(session: StreamSession, frame: Buffer): void {
  if (frame.length < STREAM_HEADER_BYTES) return
  const id = frame.readUInt32BE(1)
  const entry = session.entries.get(id)
  if (entry === undefined) return
  if (entry.stream === undefined) entry.early.push(frame)
  else input(session, id, entry, frame)
}

/**
 * Handles input. New credit is granted once half is consumed, so that the sender neither stalls nor needs a grant per
 * frame.
 */
function input({ socket, entries }: StreamSession, id: number, entry: Entry, frame: Buffer): void {
  entry.stream?.input(frame[0] ?? 0, frame.subarray(STREAM_HEADER_BYTES), () => {
    entry.consumed += frame.length
    if (entry.consumed < INPUT_BYTES / 2 || entries.get(id) !== entry) return
    socket.sendMessage({ type: 'credit', stream: id, bytes: entry.consumed })
    entry.consumed = 0
  })
}

function drop({ entries }: StreamSession, id: number, entry: Entry): void {
  entries.delete(id)
  entry.stream?.close()
  entry.outgoing.clear()
}
