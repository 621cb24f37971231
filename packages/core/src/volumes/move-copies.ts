// Moves copies away from nodes that failed, were removed or are drained. A primary with data moves only by handover or
// promotion; see handover.ts.

import type { NodeId } from '@holdfast/contract'
import {
  type HeldCopy,
  primaryCopy,
  replicasOf,
  type VolumeOccurrence,
  type VolumeRecord,
  type VolumeSituation,
  withCopies,
} from './volume-record.ts'

/** How long a node must have failed before its copies are placed elsewhere. */
export const COPY_GRACE_MS = 30 * 60 * 1000

export interface Moved<V> {
  readonly volume: V
  readonly occurrences: readonly VolumeOccurrence[]
}

const at = ({ now }: VolumeSituation): string => new Date(now).toISOString()

/**
 * Creates a primary again on another node, empty and with the next epoch: of an ephemeral volume whose node has failed or
 * leaves, and of a volume that was never provisioned. Unchanged if the primary stays or no node fits.
 */
export function replacePrimary<V extends VolumeRecord>(volume: V, situation: VolumeSituation): Moved<V> {
  const { primary } = volume
  const unchanged = { volume, occurrences: [] }
  if (primary === null || !isReplaceable(volume, primary.nodeId, situation)) return unchanged
  const placed = situation.place([])
  const [first] = placed
  if (first === undefined || first.nodeId === primary.nodeId) return unchanged
  const moved = withCopies(volume, placed, at(situation))
  const next = { nodeId: first.nodeId, epoch: primary.epoch + 1, since: at(situation) }
  const lost = { kind: 'lost', nodeId: primary.nodeId, recreatedOn: first.nodeId } as const
  return {
    volume: { ...moved, primary: next, provisioned: false },
    occurrences: volume.provisioned === true ? [lost] : [],
  }
}

function isReplaceable(volume: VolumeRecord, nodeId: NodeId, situation: VolumeSituation): boolean {
  const node = situation.nodeOf(nodeId)
  const isGone = node === undefined || node.status === 'failed'
  if (!isGone && !node.isLeaving) return false
  if (volume.provisioned !== true) return true
  if (volume.spec.class !== 'ephemeral' || situation.isAnchored()) return false
  return isGone || !situation.isMounted()
}

/**
 * Places the missing replicas, and replaces those whose node failed long ago or is drained. A replica on a drained node
 * stays until enough others are current, one on a failed node until another node fits.
 */
export function placeReplicas<V extends VolumeRecord>(volume: V, situation: VolumeSituation): Moved<V> {
  const primary = primaryCopy(volume)
  if (volume.primary !== null && primary === undefined) return { volume, occurrences: [] }
  const marked = replicasOf(volume).map((copy) => markEvacuation(copy, situation))
  const evacuating = marked.filter((copy) => copy.evacuating === true)
  const staying = marked.filter((copy) => copy.evacuating !== true)
  const stale = staying.filter(({ nodeId }) => isStale(nodeId, situation))
  const fresh = staying.filter((copy) => !stale.includes(copy))
  const placed = situation.place(primary === undefined ? [] : [primary, ...fresh])
  const open = 1 + volume.spec.replicas - placed.length
  const isEnough = placed.filter(isCurrentReplica).length >= volume.spec.replicas
  const kept =
    placed.length === 0 ? [] : [...stale.slice(0, Math.max(0, open)), ...(isEnough ? [] : evacuating)]
  return placedAs(volume, [...placed, ...kept], situation)
}

const isCurrentReplica = ({ role, state }: HeldCopy): boolean => role === 'replica' && state === 'current'

function markEvacuation(copy: HeldCopy, { nodeOf }: VolumeSituation): HeldCopy {
  const node = nodeOf(copy.nodeId)
  const { evacuating, ...rest } = copy
  const mustLeave = node?.isLeaving === true || (evacuating === true && node?.schedulable === false)
  return mustLeave ? { ...rest, evacuating: true } : rest
}

function isStale(nodeId: NodeId, { nodeOf, now }: VolumeSituation): boolean {
  const node = nodeOf(nodeId)
  return node?.status === 'failed' && now - node.statusSince >= COPY_GRACE_MS
}

function placedAs<V extends VolumeRecord>(
  volume: V,
  copies: readonly HeldCopy[],
  situation: VolumeSituation,
): Moved<V> {
  const next = withCopies(volume, copies, at(situation))
  const [first] = copies
  if (first === undefined) return { volume: next, occurrences: [] }
  const primary = volume.primary ?? { nodeId: first.nodeId, epoch: 1, since: at(situation) }
  return { volume: { ...next, primary }, occurrences: replicaChanges(volume.copies, copies) }
}

function replicaChanges(before: readonly HeldCopy[], after: readonly HeldCopy[]): VolumeOccurrence[] {
  const [had, has] = [before, after].map((copies) => new Set(copies.map(({ nodeId }) => nodeId)))
  const added = after.filter(({ role, nodeId }) => role === 'replica' && had?.has(nodeId) !== true)
  const removed = before.filter(({ role, nodeId }) => role === 'replica' && has?.has(nodeId) !== true)
  return [
    ...added.map(({ nodeId }) => ({ kind: 'replica_added', nodeId }) as const),
    ...removed.map(({ nodeId }) => ({ kind: 'replica_removed', nodeId }) as const),
  ]
}

/** When a copy on a failed node is due to be placed elsewhere, in milliseconds since 1970; undefined if none is. */
export function nextMoveAt(volume: VolumeRecord, { nodeOf, now }: VolumeSituation): number | undefined {
  const due = replicasOf(volume).flatMap(({ nodeId }) => {
    const node = nodeOf(nodeId)
    return node?.status === 'failed' ? [node.statusSince + COPY_GRACE_MS] : []
  })
  const later = due.filter((time) => time > now)
  return later.length === 0 ? undefined : Math.min(...later)
}
