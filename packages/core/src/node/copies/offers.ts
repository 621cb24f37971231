// The offers of a node: the copies that its pool holds, and the decisions about them that the node carries out.

import type { DesiredCopy, OfferDecision, OfferedCopy, VolumeId } from '@holdfast/contract'
import { newestCheckpoint } from './checkpoint-order.ts'
import type { FoundCopy } from './plan-copy.ts'

/** The offer of a volume; undefined if the pool holds nothing of it. */
export function offerOf(volume: VolumeId, { live, checkpoints, note }: FoundCopy): OfferedCopy | undefined {
  const checkpoint = newestCheckpoint(checkpoints)
  if (live === undefined && checkpoint === undefined) return undefined
  const content = note?.content
  const isPrimary = live !== undefined && content?.isMade === true && note?.released === undefined
  const epoch = isPrimary ? content.epoch : Math.max(note?.epoch ?? 0, checkpoint?.epoch ?? 0)
  return { volume, epoch, role: isPrimary ? 'primary' : 'replica', ...(checkpoint && { checkpoint }) }
}

/**
 * The decisions that still apply: the copy is not desired, and it is of the epoch that was offered. A copy that became
 * another one since is offered again.
 */
export function applicableDecisions(
  decisions: readonly OfferDecision[],
  offers: readonly OfferedCopy[],
  desired: ReadonlyMap<VolumeId, DesiredCopy>,
): OfferDecision[] {
  const offered = new Map(offers.map(({ volume, epoch }) => [volume, epoch]))
  return decisions.filter(({ volume, epoch }) => !desired.has(volume) && offered.get(volume) === epoch)
}

/** The most quarantined copies of one volume that are kept, apart from young ones. */
const KEPT = 3
/** Quarantined data is kept for at least this time; newer data replaces older data only afterwards. */
export const QUARANTINE_MS = 7 * 24 * 60 * 60 * 1000

/** The quarantined copies that newer ones of their volume replace: all but the newest three, if they are a week old. */
export function expiredQuarantine<Q extends { readonly volume: string; readonly since: string }>(
  quarantined: readonly Q[],
  nowMs: number,
): Q[] {
  const byVolume = Map.groupBy(quarantined, ({ volume }) => volume)
  return [...byVolume.values()].flatMap((ofVolume) =>
    ofVolume
      .toSorted((left, right) => Date.parse(right.since) - Date.parse(left.since))
      .slice(KEPT)
      .filter(({ since }) => nowMs - Date.parse(since) >= QUARANTINE_MS),
  )
}
