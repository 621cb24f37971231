// The role of a node in the promises of one volume: a copy that promises, or the primary that needs promises. The desired
// copy, as the server stored it, decides; an outdated one changes nothing. See docs/design/promises.md

import type { Configuration, DesiredCopy } from '@holdfast/contract'
import { becomeCopy, takeOver } from '../change-roles.ts'
import { type CopyState, onCopyConfigured, startCopy } from '../copy.ts'
import type { GroupRecord } from '../group-record.ts'
import { leaseEndMs, onPrimaryConfigured, type PrimaryState, startPrimary } from '../primary.ts'
import type { PromotionTimings } from '../timings.ts'

export interface CopyRole {
  readonly role: 'copy'
  readonly copy: CopyState
}

export interface PrimaryRole {
  readonly role: 'primary'
  readonly primary: PrimaryState
  /** Requested nodes for which no request has left yet. They can be dropped without a transaction. */
  readonly unsent: readonly string[]
  /** A read of the stored record has shown that this node is the primary of the epoch. */
  readonly isConfirmed: boolean
  /** The stored record has a newer epoch. */
  readonly isDeposed: boolean
  /** Since when this node asks for promises, on its clock. */
  readonly sinceMs: number
}

export type VolumeRole = CopyRole | PrimaryRole

/** The part of a role that is on disk. */
export type SavedRole =
  | ({ readonly role: 'copy' } & Pick<CopyState['durable'], 'epoch' | 'cv' | 'prepared'>)
  | ({
      readonly role: 'primary'
      readonly copies: readonly string[]
      readonly unsent: readonly string[]
      readonly isConfirmed: boolean
    } & Pick<PrimaryState['durable'], 'epoch' | 'cv' | 'configured' | 'asked'> & {
        readonly handover?: GroupRecord['handover']
      })

export interface PromisingNode {
  readonly node: string
  /** Number of this start of the agent, and of this boot of the machine. */
  readonly start: number
  readonly boot: number
  readonly nowMs: number
  readonly timings: PromotionTimings
}

export function savedRole(role: VolumeRole): SavedRole {
  if (role.role === 'copy') {
    const { epoch, cv, prepared } = role.copy.durable
    return { role: 'copy', epoch, cv, prepared }
  }
  const { durable, copies } = role.primary
  const { epoch, cv, configured, asked, handover } = durable
  const { unsent, isConfirmed } = role
  const moving = handover && { handover: { to: handover.to, cv: handover.cv } }
  return { role: 'primary', copies, epoch, cv, configured, asked, unsent, isConfirmed, ...moving }
}

/** The role that a restarted agent continues. */
export function restoreRole(
  saved: SavedRole,
  volume: string,
  { node, start, boot, nowMs, timings }: PromisingNode,
): VolumeRole {
  if (saved.role === 'copy') {
    const durable = { epoch: saved.epoch, cv: saved.cv, prepared: saved.prepared, held: [undefined] }
    return { role: 'copy', copy: startCopy({ node, volumes: [volume], durable, start }, nowMs, timings) }
  }
  const { copies, epoch, cv, configured, asked, unsent, isConfirmed } = saved
  const handover = saved.handover && { ...saved.handover, abdicated: false }
  const durable = { epoch, cv, configured, asked, handover, checkpoint: 0 }
  const primary = startPrimary({ node, copies, durable, boot, file: undefined })
  return { role: 'primary', primary, unsent, isConfirmed, isDeposed: false, sinceMs: nowMs }
}

/** The record as far as a desired copy shows it. Nothing else changes the version during a handover. */
const recordOf = (copy: DesiredCopy, node: string): GroupRecord => {
  const { epoch, cv = 0, promotable = [], handOverTo } = copy
  const primary = copy.role === 'primary' ? node : (copy.peers[0] ?? '')
  return { epoch, primary, promotable, cv, handover: handOverTo && { to: handOverTo, cv } }
}

/** The role of the node after it has read a desired copy. */
export function followVolume(
  known: VolumeRole | undefined,
  desired: DesiredCopy,
  node: PromisingNode,
): VolumeRole {
  const record = recordOf(desired, node.node)
  // Every change of the primary begins a new epoch, so this is what an outdated server still knows.
  if (desired.role === 'replica' && isPrimaryOf(known, record.epoch)) return known
  if (desired.role === 'replica') return { role: 'copy', copy: followAsCopy(known, desired, record, node) }
  const { peers, handOverTo } = desired
  const copies = [...new Set<string>(handOverTo === undefined ? peers : [...peers, handOverTo])]
  const role = followAsPrimary(known, desired, record, node)
  return role.role === 'copy' ? role : { ...role, primary: { ...role.primary, copies } }
}

/** Whether the node is the primary of the epoch, or of a newer one. */
const isPrimaryOf = (known: VolumeRole | undefined, epoch: number): known is PrimaryRole =>
  known?.role === 'primary' && known.primary.durable.epoch >= epoch

function followAsCopy(
  known: VolumeRole | undefined,
  { volume }: DesiredCopy,
  record: GroupRecord,
  { node, start, nowMs, timings }: PromisingNode,
): CopyState {
  if (known?.role === 'copy') return onCopyConfigured(known.copy, record)
  const place = { volumes: [volume], start }
  if (known?.role === 'primary') return becomeCopy(known.primary, record, place, nowMs, timings)
  const durable = { epoch: record.epoch, cv: record.cv, prepared: false, held: [undefined] }
  return startCopy({ node, ...place, durable }, nowMs, timings)
}

function followAsPrimary(
  known: VolumeRole | undefined,
  { from }: DesiredCopy,
  record: GroupRecord,
  { node, boot, nowMs }: PromisingNode,
): VolumeRole {
  if (isPrimaryOf(known, record.epoch)) return configureRole(known, record)
  // Only the first primary needs no confirmation: no other node can have been one.
  const begun = { role: 'primary', unsent: [], isConfirmed: from === undefined, isDeposed: false } as const
  if (known?.role === 'copy') {
    const taken = takeOver(known.copy, record, { boot, copies: [] })
    return taken === undefined ? known : { ...begun, primary: taken.primary, sinceMs: nowMs }
  }
  const { epoch, cv, promotable: configured, handover } = record
  const moving = handover && { ...handover, abdicated: false }
  const durable = { epoch, cv, configured, asked: [], handover: moving, checkpoint: 0 }
  const primary = startPrimary({ node, copies: [], durable, boot, file: undefined })
  return { ...begun, primary, sinceMs: nowMs }
}

function configureRole(role: PrimaryRole, record: GroupRecord): PrimaryRole {
  const primary = onPrimaryConfigured(role.primary, record)
  return primary === role.primary ? role : { ...role, primary, unsent: [] }
}

/** The role of a primary after an answer of the server with the committed configuration. */
export function onConfiguration(role: PrimaryRole, answer: Configuration): PrimaryRole {
  const { epoch, primary, promotable, cv, handOverTo } = answer
  const handover = handOverTo && { to: handOverTo, cv }
  const next = configureRole(role, { epoch, primary, promotable, cv, handover })
  const isOwn = epoch === role.primary.durable.epoch && primary === role.primary.node
  const isDeposed = role.isDeposed || epoch > role.primary.durable.epoch
  return { ...next, isConfirmed: role.isConfirmed || isOwn, isDeposed }
}

/** The end of the lease. A volume that was released, or that has another primary, is never written again in this epoch. */
export function roleEndMs(
  { primary, isDeposed }: PrimaryRole,
  isReleased: boolean,
  timings: PromotionTimings,
): number {
  return isReleased || isDeposed ? Number.NEGATIVE_INFINITY : leaseEndMs(primary, timings)
}
