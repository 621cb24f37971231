// The knowledge of a primary about each of its replicas, from their answers. Nothing of it is on disk: after a restart the
// replicas are asked again.

import type { NodeId, VolumeCheckpoint, VolumeId } from '@holdfast/contract'
import type { ReplicaFacts } from '@holdfast/core/node'

export interface ReplicaEntry {
  /** The complete checkpoints of the replica, the newest first; undefined until it has answered. */
  held: readonly VolumeCheckpoint[] | undefined
  inFlight: VolumeCheckpoint | undefined
  /** The replica has everything that was written before this time. */
  asOfMs: number | undefined
  answeredMs: number
  /** When the last stream began, for fairness between volumes. */
  servedMs: number
  retryAtMs: number
  failures: number
  /** The last attempt did not reach the node. It gets nothing until it answers, and then at once. */
  isUnreachable: boolean
  /** The replica could not apply changes to its base, so the next stream is complete. */
  needsFull: boolean
}

/**
 * `unreachable`: nothing is sent until the node answers. `refused`: the node wants no bytes now and may agree in the next
 * round, so the delay stays short. `failed`: bytes were sent in vain, so each delay is longer than the one before.
 */
export type CopyFailure = 'unreachable' | 'refused' | 'failed'

export interface ReplicaTable {
  of(volume: VolumeId, node: NodeId): ReplicaEntry
  factsOf(volume: VolumeId, nodes: readonly NodeId[]): ReplicaFacts[]
  /** Records which checkpoints the replica has, and up to which time it has everything. */
  acknowledge(entry: ReplicaEntry, held: readonly VolumeCheckpoint[], asOfMs: number | undefined): void
  /** Delays the next attempt. */
  recordFailure(entry: ReplicaEntry, failure: CopyFailure): void
  /** Forgets replicas that are not desired. */
  keepOnly(volumes: ReadonlyMap<VolumeId, readonly NodeId[]>): void
}

const MAX_DELAY_MS = 300_000

export function createReplicaTable(monotonicMs: () => number, retryMs: number): ReplicaTable {
  const entries = new Map<VolumeId, Map<NodeId, ReplicaEntry>>()

  const of = (volume: VolumeId, node: NodeId): ReplicaEntry => {
    const ofVolume = entries.get(volume) ?? new Map<NodeId, ReplicaEntry>()
    const entry = ofVolume.get(node) ?? newEntry(monotonicMs())
    entries.set(volume, ofVolume.set(node, entry))
    return entry
  }
  return {
    of,
    factsOf: (volume, nodes) =>
      nodes.map((node) => {
        const { held, inFlight, answeredMs } = of(volume, node)
        return { held, inFlight, silentMs: monotonicMs() - answeredMs }
      }),
    acknowledge(entry, held, asOfMs) {
      entry.held = held
      entry.answeredMs = monotonicMs()
      entry.isUnreachable = false
      if (asOfMs !== undefined) entry.asOfMs = Math.max(entry.asOfMs ?? asOfMs, asOfMs)
    },
    recordFailure(entry, failure) {
      entry.isUnreachable = failure === 'unreachable'
      if (entry.isUnreachable) return
      const factor = failure === 'failed' ? 2 ** entry.failures : 1
      entry.retryAtMs = monotonicMs() + Math.min(MAX_DELAY_MS, retryMs * factor)
      if (failure === 'failed') entry.failures += 1
    },
    keepOnly(volumes) {
      for (const [volume, ofVolume] of entries) {
        const nodes = volumes.get(volume) ?? []
        for (const node of ofVolume.keys()) if (!nodes.includes(node)) ofVolume.delete(node)
        if (ofVolume.size === 0) entries.delete(volume)
      }
    },
  }
}

const newEntry = (nowMs: number): ReplicaEntry => ({
  held: undefined,
  inFlight: undefined,
  asOfMs: undefined,
  answeredMs: nowMs,
  servedMs: 0,
  retryAtMs: 0,
  failures: 0,
  isUnreachable: false,
  needsFull: false,
})
