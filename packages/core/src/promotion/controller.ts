// The transactions of the controller on a group's record. Each compares epoch or configuration version, so that a delayed,
// repeated or outdated request changes nothing (docs/design/promotion.md#transactions).

import { changeRecord, type GroupRecord } from './group-record.ts'
import type {
  CancelHandover,
  Checkpoint,
  Configured,
  Force,
  Grow,
  Prepare,
  Shrink,
  Vote,
} from './messages.ts'

export interface Transaction {
  readonly record: GroupRecord
  readonly send: readonly Configured[]
}

const answer = (to: string, record: GroupRecord): Transaction => ({
  record,
  send: [{ kind: 'configured', to, record }],
})

/** Answers a linearizable read. */
export const readRecord = (record: GroupRecord, to: string): Transaction => answer(to, record)

export function shrinkGroup(record: GroupRecord, { from, epoch, node }: Shrink): Transaction {
  const mayShrink =
    epoch === record.epoch && record.handover === undefined && record.promotable.includes(node)
  if (!mayShrink) return answer(from, record)
  return answer(from, changeRecord(record, { promotable: record.promotable.filter((each) => each !== node) }))
}

export function growGroup(record: GroupRecord, { from, epoch, cv, node }: Grow): Transaction {
  const isCurrent = epoch === record.epoch && cv === record.cv
  if (!isCurrent || record.handover !== undefined || record.promotable.includes(node))
    return answer(from, record)
  return answer(from, changeRecord(record, { promotable: [...record.promotable, node].sort() }))
}

export function beginHandover(record: GroupRecord, to: string): Transaction {
  if (record.handover !== undefined || !record.promotable.includes(to)) return { record, send: [] }
  return answer(record.primary, changeRecord(record, { handover: { to, cv: record.cv + 1 } }))
}

export function cancelHandover(record: GroupRecord, { from, epoch, cv }: CancelHandover): Transaction {
  const isCurrent = epoch === record.epoch && record.handover?.cv === cv
  return answer(from, isCurrent ? changeRecord(record, { handover: undefined }) : record)
}

/** Asks a node for its vote. Only a forced promotion asks a node that is not promotable. */
export function prepareNode(
  { epoch, cv, promotable }: GroupRecord,
  to: string,
  force: Force | undefined,
): Prepare | undefined {
  if (force === undefined && !promotable.includes(to)) return undefined
  return { kind: 'prepare', to, epoch, cv, force }
}

export interface Promotion {
  readonly record: GroupRecord
  readonly checkpoint: Checkpoint | undefined
  /** Upper bound of the time whose writes are lost. Undefined if the copy cannot bound it. */
  readonly lossMs: number | undefined
}

/** The promotion that a vote permits; undefined if the record has changed since, or the node may not be promoted. */
export function promoteGroup(record: GroupRecord, vote: Vote): Promotion | undefined {
  if (vote.epoch !== record.epoch) return undefined
  if (vote.cv !== record.cv) return undefined
  if (!mayPromote(record, vote)) return undefined
  const changes = { epoch: record.epoch + 1, primary: vote.from, promotable: [], handover: undefined }
  return { record: changeRecord(record, changes), checkpoint: vote.held, lossMs: lossOf(record, vote) }
}

function mayPromote({ promotable, handover }: GroupRecord, { from, cause, cv, force }: Vote): boolean {
  if (cause === 'released') return handover?.to === from && handover.cv === cv
  return promotable.includes(from) || force?.primaryIsDead === true
}

/** A primary without promises from this node can have written at any time, so its loss has no bound. */
export function lossOf(
  { promotable }: GroupRecord,
  { from, cause, held, lastWriteBy }: Vote,
): number | undefined {
  if (cause === 'released') return 0
  if (held === undefined || lastWriteBy === undefined || !promotable.includes(from)) return undefined
  if (lastWriteBy.boot !== held.takenAt.boot) return undefined
  return Math.max(0, lastWriteBy.ms - held.takenAt.ms)
}
