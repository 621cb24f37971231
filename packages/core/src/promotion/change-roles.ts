// A node changes between the roles of copy and primary when it reads a record of a newer epoch.

import { type CopyState, heldCheckpoint, startCopy } from './copy.ts'
import type { GroupRecord } from './group-record.ts'
import type { Checkpoint } from './messages.ts'
import { type PrimaryState, startPrimary } from './primary.ts'
import type { PromotionTimings } from './timings.ts'

export interface TakenOver {
  readonly primary: PrimaryState
  /** Every volume of the group starts from this checkpoint. */
  readonly from: Checkpoint | undefined
}

/** The primary that a copy becomes by a record that names it. Undefined if the record is not newer or names another node. */
export function takeOver(
  copy: CopyState,
  record: GroupRecord,
  { boot, copies }: { readonly boot: number; readonly copies: readonly string[] },
): TakenOver | undefined {
  if (record.primary !== copy.node || record.epoch <= copy.durable.epoch) return undefined
  const from = heldCheckpoint(copy)
  const durable = {
    epoch: record.epoch,
    cv: record.cv,
    configured: record.promotable,
    asked: [],
    handover: undefined,
    checkpoint: from?.number ?? 0,
  }
  return { primary: startPrimary({ node: copy.node, copies, durable, boot, file: undefined }), from }
}

/**
 * The copy that a deposed primary becomes. Its volumes are set aside as a divergence: their bytes may be in no checkpoint,
 * so it holds nothing until it is seeded again.
 */
export function becomeCopy(
  { node }: PrimaryState,
  record: GroupRecord,
  { volumes, start }: { readonly volumes: readonly string[]; readonly start: number },
  nowMs: number,
  timings: PromotionTimings,
): CopyState {
  const durable = { epoch: record.epoch, cv: record.cv, prepared: false, held: volumes.map(() => undefined) }
  return startCopy({ node, volumes, durable, start }, nowMs, timings)
}
