// Decides what a node does with the copies that its pool holds. Data is deleted only if the volume is known to be deleted;
// what cannot be read, or is newer than the record, stays as it is. See docs/design/endings.md#offers

import type { NodeId, OfferDecision, OfferedCopy, VolumeId } from '@holdfast/contract'
import type { VolumeRecord } from './volume-record.ts'

type OfferedVolume = Pick<VolumeRecord, 'phase' | 'primary' | 'copies' | 'leaving'>

export interface OfferFacts {
  readonly nodeId: NodeId
  /** The record of a volume; undefined if there is none. */
  volumeOf(id: VolumeId): OfferedVolume | 'unreadable' | undefined
  /** Whether the volume existed when a node with this pool was removed by force: without a record, it was deleted since. */
  wasKnown(id: VolumeId): boolean
}

export type OfferVerdict =
  /** The desired copy of the node decides. */
  | 'keep'
  /** The last primary of a lost volume is back. */
  | 'adopt'
  | 'quarantine'
  | 'delete'
  /** The records do not tell whether the copy is needed: it stays. */
  | 'unknown'

export function judgeOffer(offer: Omit<OfferedCopy, 'checkpoint'>, facts: OfferFacts): OfferVerdict {
  const volume = facts.volumeOf(offer.volume)
  if (volume === 'unreadable') return 'unknown'
  if (volume === undefined) return facts.wasKnown(offer.volume) ? 'delete' : 'unknown'
  if ([...volume.copies, ...(volume.leaving ?? [])].some(({ nodeId }) => nodeId === facts.nodeId))
    return 'keep'
  if (volume.phase === 'Deleting') return 'delete'
  if (isLastPrimary(offer, volume)) return 'adopt'
  // A store that was restored from a backup may not know of a later primary.
  return offer.epoch > (volume.primary?.epoch ?? 0) ? 'unknown' : 'quarantine'
}

/** Whether the offer has all that was ever written to a lost volume. */
export const isLastPrimary = (
  { role, epoch }: Pick<OfferedCopy, 'role' | 'epoch'>,
  { phase, primary }: Pick<VolumeRecord, 'phase' | 'primary'>,
): boolean => phase === 'Lost' && role === 'primary' && epoch === primary?.epoch

/** The decisions that the node is sent. It keeps every offer without one. */
export function decideOffers(
  offers: readonly Omit<OfferedCopy, 'checkpoint'>[],
  facts: OfferFacts,
): OfferDecision[] {
  return offers.flatMap((offer): OfferDecision[] => {
    const verdict = judgeOffer(offer, facts)
    if (verdict !== 'quarantine' && verdict !== 'delete') return []
    return [{ volume: offer.volume, epoch: offer.epoch, action: verdict }]
  })
}
