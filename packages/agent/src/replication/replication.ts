// Replicates the volumes of which this node is the primary. Each round flushes and lists the pool once, takes checkpoints
// of changed volumes, and confirms the idle ones, whose state then counts as newer without any bytes being sent.
// See docs/design/storage.md#copies-on-other-nodes

import type {
  DesiredCopy,
  Measurement,
  NodeId,
  ObservedCopy,
  Peer,
  VolumeCheckpoint,
  VolumeId,
} from '@holdfast/contract'
import { includesCheckpoint, newestTaken, replicaState } from '@holdfast/core/node'
import type { Logger } from 'pino'
import type { PeerStamp } from '../peer/messages.ts'
import type { PeerRequests } from '../peer/requests.ts'
import type { LiveCopies } from '../ports/live-copies.ts'
import type { VolumePool } from '../ports/volume-pool.ts'
import type { VolumeWriters } from '../ports/volume-writers.ts'
import { coalesce } from '../routing/coalesce.ts'
import { createConfirmer } from './confirm-replicas.ts'
import { type PrimaryVolume, targetsOf } from './primary-volumes.ts'
import { createReplicaTable, type ReplicaTable } from './replica-table.ts'
import { createRounds, type ObservedRound } from './rounds.ts'
import { createCopySender } from './send-copies.ts'

const ROUND_MS = 5_000
const NONE: ReadonlyMap<VolumeId, VolumeCheckpoint> = new Map()

export interface ReplicationDeps {
  /** The node's pool; undefined while it has a fault. */
  pool(): VolumePool | undefined
  copies(): ReadonlyMap<VolumeId, DesiredCopy>
  peers(): readonly Peer[]
  readonly live: LiveCopies
  readonly writers: VolumeWriters
  readonly requests: PeerRequests
  /** Called after `replicas` has changed for a volume. */
  onChange(volume: VolumeId): void
  /** A monotonic clock in milliseconds. */
  monotonicMs(): number
  readonly roundMs?: number
  /** The clock for the times of checkpoints on other nodes; undefined: they get none. */
  stamp?(): PeerStamp | undefined
  readonly log: Logger
}

export interface Replication {
  /** The replicas that have answered; undefined for a volume of which this node is not the primary. */
  replicas(volume: VolumeId): ObservedCopy['replicas']
  measure(volume: VolumeId): Measurement['replicas']
  /** The newest checkpoint of the volume's epoch and the nodes that have acknowledged it; undefined without one. */
  current(volume: VolumeId): { readonly number: number; readonly nodes: readonly NodeId[] } | undefined
  /** Runs a round and returns, for each primary, a checkpoint with everything that was written before the call, if any. */
  checkpoint(): Promise<ReadonlyMap<VolumeId, VolumeCheckpoint>>
  /** Runs a round, or another one after the round that runs now. Never rejects. */
  check(): Promise<void>
  close(): Promise<void>
}

export function startReplication(deps: ReplicationDeps): Replication {
  const { monotonicMs, log, requests, roundMs = ROUND_MS } = deps
  const table = createReplicaTable(monotonicMs, roundMs)
  const primary = (volume: VolumeId): DesiredCopy | undefined => {
    const copy = deps.copies().get(volume)
    return copy?.role === 'primary' && copy.desired === 'present' ? copy : undefined
  }
  const replicas = (volume: VolumeId): ObservedCopy['replicas'] => {
    const copy = primary(volume)
    return copy && observeReplicas(table, copy, monotonicMs())
  }
  const rounds = createRounds({ ...deps, table })
  const sender = createCopySender({
    ...rounds,
    requests,
    table,
    pool: deps.pool,
    monotonicMs,
    log,
    onCopied: (volume) => {
      reportChanges()
      if (primary(volume)?.handOverTo !== undefined) void loop.check()
    },
  })
  const confirmer = createConfirmer({
    requests,
    table,
    log,
    onAnswer(peer, isFirst) {
      reportChanges()
      sender.start(peer)
      if (isFirst) void loop.check()
    },
  })
  const reportChanges = createChangeReports(deps, replicas)
  let complete: ObservedRound['complete'] = NONE
  async function round(): Promise<void> {
    const found = await rounds.run().catch((error: unknown) => {
      complete = NONE
      throw error
    })
    complete = found?.complete ?? NONE
    for (const peer of found === undefined ? [] : deps.peers()) {
      sender.start(peer)
      if (found !== undefined) confirmer.start(peer, found)
    }
    reportChanges()
  }
  const loop = startLoop(round, roundMs, log)
  return {
    replicas,
    measure: (volume) => {
      const copy = primary(volume)
      return copy && measureReplicas(table, copy, monotonicMs())
    },
    current: (volume) => currentReplicas(table, rounds.volumes(), volume),
    async checkpoint() {
      await loop.check()
      return complete
    },
    check: loop.check,
    async close() {
      requests.close()
      await loop.close()
      await confirmer.settled()
      await sender.settled()
    },
  }
}

/** Calls `onChange` for each volume whose replicas differ from those at the last call. */
function createChangeReports(
  { copies, onChange }: Pick<ReplicationDeps, 'copies' | 'onChange'>,
  replicas: Replication['replicas'],
): () => void {
  const reported = new Map<VolumeId, string>()
  return () => {
    for (const volume of reported.keys()) if (replicas(volume) === undefined) reported.delete(volume)
    for (const volume of copies().keys()) {
      const text = JSON.stringify(replicas(volume) ?? [])
      if (text === (reported.get(volume) ?? '[]')) continue
      reported.set(volume, text)
      onChange(volume)
    }
  }
}

function observeReplicas(
  table: ReplicaTable,
  copy: DesiredCopy,
  nowMs: number,
): NonNullable<ObservedCopy['replicas']> {
  return copy.peers.flatMap((nodeId) => {
    const { held, asOfMs } = table.of(copy.volume, nodeId)
    if (held === undefined) return []
    return [{ nodeId, state: replicaState({ acknowledged: held[0], asOfMs }, nowMs) }]
  })
}

function measureReplicas(
  table: ReplicaTable,
  copy: DesiredCopy,
  nowMs: number,
): NonNullable<Measurement['replicas']> {
  return targetsOf(copy).map((nodeId) => {
    const { held: [checkpoint] = [], asOfMs } = table.of(copy.volume, nodeId)
    const age = asOfMs === undefined ? undefined : Math.round((nowMs - asOfMs) / 1000)
    return { nodeId, ...(checkpoint && { checkpoint }), ...(age !== undefined && { age }) }
  })
}

function currentReplicas(
  table: ReplicaTable,
  volumes: readonly PrimaryVolume[],
  volume: VolumeId,
): ReturnType<Replication['current']> {
  const one = volumes.find((each) => each.volume === volume)
  const newest = one && newestTaken(one.facts)
  if (one === undefined || newest === undefined) return undefined
  const isCurrent = (node: NodeId): boolean => includesCheckpoint(table.of(volume, node).held ?? [], newest)
  return { number: newest.number, nodes: one.targets.filter(isCurrent) }
}

interface Loop {
  check(): Promise<void>
  close(): Promise<void>
}

/** Runs rounds one after another: each interval, and at once after a `check`. */
function startLoop(round: () => Promise<void>, roundMs: number, log: Logger): Loop {
  let isClosed = false
  const check = coalesce(async () => {
    if (isClosed) return
    await round().catch((error: unknown) => log.warn({ message: String(error) }, 'replication round failed'))
  })
  const timer = setInterval(() => void check(), roundMs).unref()
  return {
    check,
    async close() {
      isClosed = true
      clearInterval(timer)
      await check()
    },
  }
}
