// The events about promotions of volumes, and the loss of a promotion in words.

import type { NodeId, Promotion, QuarantinedCopy } from '@holdfast/contract'
import type { StoredCopyReport, StoredVolume } from '../../../store/records.ts'
import type { NewEvent } from '../../record-write.ts'
import type { NodeName } from '../volume-events.ts'

const subjectOf = ({ id, spec }: StoredVolume) => ({ kind: 'Volume', name: spec.name, uid: id })

/** The bound in whole seconds; null if it is unknown. */
export const lossSeconds = ({ lossMs }: Promotion): number | null =>
  lossMs === null ? null : Math.ceil(lossMs / 1_000)

/** The loss of a promotion, in words. The time counts back from the last moment at which the old primary can have written. */
export function lossText(promotion: Promotion, nameOf: NodeName): string {
  const seconds = lossSeconds(promotion)
  const from = nameOf(promotion.from)
  if (seconds === null) return `It is unknown how many of the last writes on ${from} are lost.`
  return seconds === 0
    ? 'No writes are lost.'
    : `Writes of at most the last ${seconds} s before the lease of ${from} ended are lost.`
}

/** Only the silent node knows how many bytes it has not sent; its data is counted when it returns. */
const BYTES_AT_LEAST = 0

export function promotedEvent(volume: StoredVolume, promotion: Promotion, nameOf: NodeName): NewEvent {
  const { fromEpoch, toEpoch, from, to, cause, checkpoint } = promotion
  const why = cause === 'forced' ? 'by force' : `because ${nameOf(from)} is silent`
  return {
    type: 'volume.promoted',
    severity: 'warning',
    subject: subjectOf(volume),
    cause: `promoted ${toEpoch}`,
    reason: cause,
    message:
      `The copy of volume ${volume.spec.name} on ${nameOf(to)} became its primary ${why}, ` +
      `with checkpoint ${checkpoint}. ${lossText(promotion, nameOf)}`,
    data: {
      ...{ fromEpoch, toEpoch, from, to, checkpoint },
      lossSeconds: lossSeconds(promotion),
      bytesAtLeast: BYTES_AT_LEAST,
    },
  }
}

export function fencedEvent(
  volume: StoredVolume,
  { nodeId, epoch }: Pick<StoredCopyReport, 'nodeId' | 'epoch'>,
  since: string,
  nameOf: NodeName,
): NewEvent {
  return {
    type: 'volume.fenced',
    severity: 'warning',
    subject: subjectOf(volume),
    cause: `fenced ${epoch} ${nodeId} ${since}`,
    reason: 'lease_ended',
    message:
      `Node ${nameOf(nodeId)} lost the promises of the copies of volume ${volume.spec.name} ` +
      'and ended the containers that write it. They start again once the copies answer.',
    data: { nodeId, since, epoch },
  }
}

export function divergenceEvent(
  volume: StoredVolume,
  nodeId: NodeId,
  { epoch, usedBytes }: QuarantinedCopy,
  nameOf: NodeName,
): NewEvent {
  return {
    type: 'volume.divergence_preserved',
    severity: 'warning',
    subject: subjectOf(volume),
    cause: `divergence ${nodeId} ${epoch}`,
    reason: 'quarantined',
    message:
      `Node ${nameOf(nodeId)} keeps its former data of volume ${volume.spec.name} in quarantine: ` +
      `it was the primary of epoch ${epoch}, and a copy has replaced it since.`,
    data: { nodeId, epoch, usedBytes: usedBytes ?? null },
  }
}
