// The side of a replica: answers which checkpoints it has, and stores those that its primary sends. Each request is judged
// against the desired copies at that moment, and a checkpoint is acknowledged only after the pool has verified and synced
// it. See docs/design/storage.md#copies-on-other-nodes

import { setTimeout as delay } from 'node:timers/promises'
import type { DesiredCopy, NodeId, VolumeCheckpoint, VolumeId } from '@holdfast/contract'
import {
  hasRoomForStream,
  includesCheckpoint,
  isSameCheckpoint,
  judgeIncoming,
  newestFirst,
  refuseSender,
  surplusCheckpoints,
} from '@holdfast/core/node'
import type { Logger } from 'pino'
import type { PeerConnection } from '../peer/connection.ts'
import {
  type Answer,
  type ConfirmRequest,
  type CopyRequest,
  MAX_HELD,
  type PeerRequest,
} from '../peer/messages.ts'
import { type CheckpointFacts, type PoolContents, PoolError, type VolumePool } from '../ports/volume-pool.ts'
import type { CopyPromises } from '../promises/start-promises.ts'

export interface IncomingDeps {
  /** The node's pool; undefined while it has a fault. */
  pool(): VolumePool | undefined
  desired(volume: VolumeId): DesiredCopy | undefined
  /** Called when a checkpoint was stored. */
  onStored(volume: VolumeId): void
  /** Promises to primaries; undefined: this node makes none. */
  readonly promises?: CopyPromises
  readonly log: Logger
}

export type ServePeer = (from: NodeId, request: PeerRequest, connection: PeerConnection) => Promise<void>

export interface Incoming {
  readonly serve: ServePeer
  /** The checkpoints that are on disk. Rejects if the pool cannot be read. */
  list(): Promise<PoolContents>
}

/** How long a stream waits for the end of the one before. Its sender waits longer for the answer. */
const SURPLUS_MS = 20_000

const refused = (reason: string): Answer => ({ answer: 'refused', reason })

export function createIncoming(deps: IncomingDeps): Incoming {
  const receiving = new Map<NodeId, CopyRequest>()
  const ended = new Map<NodeId, Promise<void>>()
  const synced = new WeakSet<VolumePool>()
  /** Lists what is on disk. A checkpoint appears before it is synced, and until then it must not be acknowledged. */
  async function list(pool: VolumePool): Promise<PoolContents> {
    if (!synced.has(pool)) await pool.flush()
    synced.add(pool)
    const unsynced = [...receiving.values()]
    const { volumes, checkpoints } = await pool.list()
    const isSynced = (one: CheckpointFacts): boolean =>
      !unsynced.some(({ volume, checkpoint }) => one.volume === volume && isSameCheckpoint(one, checkpoint))
    return { volumes, checkpoints: checkpoints.filter(isSynced) }
  }
  const serve: ServePeer = async (from, request, connection) => {
    if (request.request === 'renew')
      return deps.promises === undefined
        ? connection.answer(refused('no_promises'))
        : deps.promises.answerRenewal(from, request, connection)
    const pool = deps.pool()
    if (pool === undefined) return connection.answer(refused('no_pool'))
    if (request.request === 'confirm') {
      const contents = await list(pool)
      const { answer, surplus } = confirm(deps, contents, from, request)
      await connection.answer(answer)
      // A stream drops what it makes surplus, and its base must stay until then.
      if (!receiving.has(from))
        for (const { volume, old } of surplus) await pool.removeCheckpoint(volume, old)
      return
    }
    // One stream of a node at a time. The one before is acknowledged and still removes what it has made surplus.
    const before = ended.get(from)
    if (before !== undefined) await Promise.race([before, delay(SURPLUS_MS, undefined, { ref: false })])
    if (receiving.has(from)) return connection.answer(refused('busy'))
    const contents = await list(pool)
    if (receiving.has(from)) return connection.answer(refused('busy'))
    receiving.set(from, request)
    const { promise, resolve } = Promise.withResolvers<void>()
    ended.set(from, promise)
    try {
      await receive({ ...deps, pool, from, held: heldOf(contents, request.volume) }, request, connection)
    } finally {
      receiving.delete(from)
      ended.delete(from)
      resolve()
    }
  }
  return {
    serve,
    async list() {
      const pool = deps.pool()
      if (pool === undefined) throw new Error('The pool of this node cannot be used.')
      return list(pool)
    },
  }
}

interface Surplus {
  readonly volume: VolumeId
  readonly old: VolumeCheckpoint
}

/** The answer to a primary, and the checkpoints that its request makes surplus. */
function confirm(
  { desired, promises }: IncomingDeps,
  contents: PoolContents,
  from: NodeId,
  { volumes: items, at }: ConfirmRequest,
): { readonly answer: Answer; readonly surplus: readonly Surplus[] } {
  const surplus: Surplus[] = []
  const volumes = items.map(({ volume, epoch, unchanged }) => {
    const held = heldOf(contents, volume)
    const reason = refuseSender({ from, epoch }, desired(volume), held)
    if (reason !== undefined) return { volume, reason }
    if (at && unchanged && includesCheckpoint(held, unchanged)) promises?.noteTime(volume, unchanged, at)
    surplus.push(...surplusCheckpoints(held, unchanged).map((old) => ({ volume, old })))
    return { volume, held: newestFirst(held).slice(0, MAX_HELD) }
  })
  return { answer: { answer: 'confirmed', volumes }, surplus }
}

interface Receiving extends Omit<IncomingDeps, 'pool'> {
  readonly pool: VolumePool
  readonly from: NodeId
  readonly held: readonly VolumeCheckpoint[]
}

async function receive(
  { pool, from, held, desired, onStored, promises, log }: Receiving,
  { volume, checkpoint, base, takenAt }: CopyRequest,
  connection: PeerConnection,
): Promise<void> {
  const judge = () => judgeIncoming({ from, ...checkpoint, ...(base && { base }) }, desired(volume), held)
  // A vote lists the checkpoints of this node, so the node stores no others of that epoch.
  const mayStore = (): boolean => promises?.mayStore(volume, checkpoint) ?? true
  const verdict = judge()
  if (verdict.kind === 'refuse') return connection.answer(refused(verdict.reason))
  if (verdict.kind === 'held') return connection.answer({ answer: 'held' })
  if (!hasRoomForStream(await pool.inspect())) return connection.answer(refused('no_room'))
  if (!mayStore()) return connection.answer(refused('voted'))
  await connection.answer({ answer: 'ready' })
  const { chunks, digest } = connection.readBytes()
  try {
    await pool.receive(chunks, { volume, ...checkpoint, maxBytes: verdict.maxBytes, digest })
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    log.warn({ volume, ...checkpoint, peer: from, message }, 'checkpoint not stored')
    return connection.answer(refused(error instanceof PoolError ? error.fault : 'failed'))
  }
  // The copy may have another role since the stream began.
  if (judge().kind !== 'accept' || !mayStore()) {
    await pool.removeCheckpoint(volume, checkpoint)
    return connection.answer(refused(mayStore() ? 'no_copy' : 'voted'))
  }
  if (takenAt !== undefined) promises?.noteTime(volume, checkpoint, takenAt)
  onStored(volume)
  await connection.answer({ answer: 'stored' })
  const kept = base === undefined ? [checkpoint] : [checkpoint, base]
  // The vote may list the others by now.
  if (!mayStore()) return
  for (const old of held) if (!includesCheckpoint(kept, old)) await pool.removeCheckpoint(volume, old)
}

const heldOf = ({ checkpoints }: PoolContents, volume: VolumeId): VolumeCheckpoint[] =>
  checkpoints.filter((one) => one.volume === volume).map(({ epoch, number }) => ({ epoch, number }))
