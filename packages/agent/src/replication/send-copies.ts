// Sends checkpoints to the replicas: one stream per node at a time, the volume that has waited longest first. A stream that
// fails is repeated after growing delays; the replica then tells from which checkpoint to continue.

import { defined, type NodeId, type Peer, type VolumeCheckpoint, type VolumeId } from '@holdfast/contract'
import { baseOf, includesCheckpoint, SILENT_MS } from '@holdfast/core/node'
import type { Logger } from 'pino'
import { PeerError } from '../peer/peer-error.ts'
import type { PeerRequests } from '../peer/requests.ts'
import type { VolumePool } from '../ports/volume-pool.ts'
import type { PrimaryVolume } from './primary-volumes.ts'
import type { ReplicaEntry, ReplicaTable } from './replica-table.ts'
import type { Rounds } from './rounds.ts'

export interface SendDeps {
  readonly requests: Pick<PeerRequests, 'copy'>
  readonly table: ReplicaTable
  pool(): VolumePool | undefined
  /** The volumes as the last round found them. */
  volumes(): readonly PrimaryVolume[]
  /** The checkpoint of each that its replicas must have. */
  whole(): ReadonlyMap<VolumeId, VolumeCheckpoint>
  /** When the checkpoint was taken; undefined if that was before the agent's start. */
  takenAt: Rounds['takenAt']
  onCopied(volume: VolumeId): void
  monotonicMs(): number
  readonly log: Logger
}

export interface CopySender {
  /** Sends what the node lacks, unless that is already under way. */
  start(peer: Peer): void
  /** Resolves when nothing is under way. */
  settled(): Promise<void>
}

/** Refusals after which changes to a base cannot succeed. */
const NEEDS_FULL = ['failed', 'corrupt', 'interrupted', 'unknown_base']
/** Refusals before any byte, until the node has received the same desired state as this one, as after a promotion. */
const NOT_YET = ['no_copy', 'not_replica', 'not_primary', 'unknown_epoch', 'unknown_base']

export function createCopySender(deps: SendDeps): CopySender {
  const running = new Map<NodeId, Promise<void>>()
  return {
    start(peer) {
      if (running.has(peer.nodeId)) return
      const work = sendAll(deps, peer).finally(() => running.delete(peer.nodeId))
      running.set(peer.nodeId, work)
    },
    settled: async () => void (await Promise.all(running.values())),
  }
}

async function sendAll(deps: SendDeps, peer: Peer): Promise<void> {
  for (let next = findDue(deps, peer.nodeId); next !== undefined; next = findDue(deps, peer.nodeId)) {
    const { one, entry, target } = next
    const pool = deps.pool()
    if (pool === undefined) return
    entry.inFlight = target
    entry.servedMs = deps.monotonicMs()
    try {
      await sendOne(deps, pool, peer, next)
    } catch (error) {
      const isUnreachable = error instanceof PeerError && error.fault === 'unreachable'
      deps.table.recordFailure(entry, isUnreachable ? 'unreachable' : 'failed')
      const message = error instanceof Error ? error.message : String(error)
      deps.log.warn({ volume: one.volume, ...target, peer: peer.nodeId, message }, 'checkpoint not sent')
    } finally {
      entry.inFlight = undefined
    }
  }
}

interface DueCopy {
  readonly one: PrimaryVolume
  readonly entry: ReplicaEntry
  readonly held: readonly VolumeCheckpoint[]
  readonly target: VolumeCheckpoint
}

function findDue({ table, volumes, whole, monotonicMs }: SendDeps, node: NodeId): DueCopy | undefined {
  const nowMs = monotonicMs()
  const targets = whole()
  const due = volumes().flatMap((one): DueCopy[] => {
    const target = targets.get(one.volume)
    if (target === undefined || !one.targets.includes(node)) return []
    const entry = table.of(one.volume, node)
    const { held, retryAtMs, answeredMs, isUnreachable } = entry
    if (held === undefined || isUnreachable || retryAtMs > nowMs || nowMs - answeredMs > SILENT_MS) return []
    return includesCheckpoint(held, target) ? [] : [{ one, entry, held, target }]
  })
  return due.toSorted((a, b) => a.entry.servedMs - b.entry.servedMs)[0]
}

async function sendOne(
  { requests, table, takenAt, onCopied, log }: SendDeps,
  pool: VolumePool,
  peer: Peer,
  { one, entry, held, target }: DueCopy,
): Promise<void> {
  const { volume, facts } = one
  const base = entry.needsFull ? undefined : baseOf(facts.own, held, target)
  const taken = takenAt(volume, target)
  const times = defined({ base, takenAt: taken?.stamp })
  const request = { request: 'copy', volume, checkpoint: target, ...times } as const
  const copied = await requests.copy(peer, request, () => pool.send(volume, target, base))
  if (copied.kind === 'refused') {
    table.recordFailure(entry, NOT_YET.includes(copied.reason) ? 'refused' : 'failed')
    if (base !== undefined && NEEDS_FULL.includes(copied.reason)) entry.needsFull = true
    log.warn({ volume, ...target, peer: peer.nodeId, reason: copied.reason }, 'checkpoint refused')
    return
  }
  table.acknowledge(entry, base === undefined ? [target] : [target, base], taken?.ms)
  entry.failures = 0
  entry.needsFull = false
  onCopied(volume)
}
