// Decides the next state of a volume from the reports of its agents and the state of its nodes.
// See docs/design/volumes.md#volumes-in-the-server

import type { NodeId } from '@holdfast/contract'
import { keepPromotable } from './configuration/keep-promotable.ts'
import { forgetGone, observeCopies } from './copy-states.ts'
import { isLastPrimary } from './judge-offers.ts'
import { nextMoveAt, placeReplicas, replacePrimary } from './move-copies.ts'
import { isLost, phaseOf } from './volume-phase.ts'
import {
  type VolumeOccurrence,
  type VolumeRecord,
  type VolumeSituation,
  withCopies,
  withLeaving,
} from './volume-record.ts'

export type NextVolume<V> =
  /** Every agent has deleted its copy: the record, its name and its quota are to be freed. */
  | { readonly kind: 'delete' }
  | {
      readonly kind: 'keep'
      readonly volume: V
      readonly occurrences: readonly VolumeOccurrence[]
      /** When the volume must be decided again although nothing changes, in milliseconds since 1970. */
      readonly decideAgainAt: number | undefined
    }

export function nextVolume<V extends VolumeRecord>(before: V, situation: VolumeSituation): NextVolume<V> {
  const next = decideNext(before, situation)
  if (next.kind === 'delete') return next
  return { ...next, volume: keepPromotable(before, withoutUnfit(next.volume, situation)) }
}

/**
 * A copy whose node no longer satisfies the residency of the volume must not become its primary. An agent that went back to
 * a version without promises writes without a lease, so no copy may replace it, and does not answer as a copy.
 */
function withoutUnfit<V extends VolumeRecord>(volume: V, { isResident, nodeOf }: VolumeSituation): V {
  const { promotable, primary } = volume
  if (promotable === undefined || primary === null) return volume
  const canPromise = (id: NodeId) => nodeOf(id)?.cannotPromise !== true
  const fit = promotable.filter((id) => isResident(id) && canPromise(id))
  return { ...volume, promotable: canPromise(primary.nodeId) ? fit : [] }
}

function decideNext<V extends VolumeRecord>(before: V, situation: VolumeSituation): NextVolume<V> {
  const present = forgetGone(before, situation)
  if (before.phase === 'Lost') return foundVolume(present, situation) ?? finalVolume(present)
  if (before.phase === 'Deleting') return finalVolume(present)
  if (before.spec.class === 'object') return keep(before)
  if (before.spec.class === 'replicated' && isLost(present, situation)) return lostVolume(present, situation)
  const replaced = replacePrimary(present, situation)
  const placed = placeReplicas(replaced.volume, situation)
  const observed = observeCopies(placed.volume, situation)
  const volume = { ...observed, ...phaseOf(observed, situation) }
  return {
    kind: 'keep',
    volume,
    occurrences: [...replaced.occurrences, ...placed.occurrences, ...phaseChange(before, volume)],
    decideAgainAt: nextMoveAt(volume, situation),
  }
}

const keep = <V>(volume: V, occurrences: readonly VolumeOccurrence[] = []): NextVolume<V> => ({
  kind: 'keep',
  volume,
  occurrences,
  decideAgainAt: undefined,
})

/** A deleted volume ends when no agent has data of it. A lost one stays until it is deleted. */
function finalVolume<V extends VolumeRecord>(volume: V): NextVolume<V> {
  const isGone =
    volume.phase === 'Deleting' && (volume.leaving ?? []).length === 0 && volume.copies.length === 0
  return isGone ? { kind: 'delete' } : keep(volume)
}

/** A lost volume whose last primary is back: it continues there, in the same epoch. */
function foundVolume<V extends VolumeRecord>(
  volume: V,
  situation: VolumeSituation,
): NextVolume<V> | undefined {
  const offer = situation.offers().find((one) => isLastPrimary(one, volume))
  if (offer === undefined || volume.primary === null) return undefined
  const { nodeId } = offer
  const since = new Date(situation.now).toISOString()
  const copy = { nodeId, role: 'primary', state: 'missing', seeded: true } as const
  const found = {
    ...withLeaving(
      volume,
      (volume.leaving ?? []).filter((one) => one.nodeId !== nodeId),
    ),
    primary: { ...volume.primary, nodeId, since },
    copies: [copy],
    phase: 'Degraded' as const,
    reason: 'node_removed',
  }
  return keep(found)
}

function lostVolume<V extends VolumeRecord>(volume: V, { now }: VolumeSituation): NextVolume<V> {
  const nodeId = volume.primary?.nodeId
  const without = withCopies(volume, [], new Date(now).toISOString())
  // The node of the primary is gone, so it confirms nothing.
  const forgotten = forgetNode(without, nodeId)
  const lost = { ...forgotten, phase: 'Lost' as const, reason: 'no_copy_left' }
  return keep(lost, nodeId === undefined ? [] : [{ kind: 'lost', nodeId, recreatedOn: null }])
}

function forgetNode<V extends VolumeRecord>(volume: V, gone: string | undefined): V {
  const leaving = volume.leaving?.filter(({ nodeId }) => nodeId !== gone) ?? []
  return withLeaving(volume, leaving)
}

function phaseChange(before: VolumeRecord, after: VolumeRecord): VolumeOccurrence[] {
  if (before.phase === after.phase) return []
  if (after.phase === 'Degraded') return [{ kind: 'degraded', reason: after.reason ?? '' }]
  const wasUsable = before.phase === 'Resizing' || before.phase === 'Ready'
  return after.phase === 'Ready' && !wasUsable ? [{ kind: 'ready' }] : []
}
