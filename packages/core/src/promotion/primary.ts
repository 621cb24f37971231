// The primary of a volume group: its lease, and the configuration that it acts on. It needs a promise from every node that
// the stored record may list as promotable (docs/design/promotion.md#primary).

import type { GroupRecord, Handover } from './group-record.ts'
import type { Message, RenewAck, Step, Stored } from './messages.ts'
import type { PromotionTimings } from './timings.ts'

/** Synced to disk before a message leaves. */
export interface PrimaryDurable {
  readonly epoch: number
  /** The newest configuration version that the primary has acted on. */
  readonly cv: number
  /** The promotable nodes of that configuration. */
  readonly configured: readonly string[]
  /** Nodes that the primary has asked to add since, and whose promises it needs from before that request. */
  readonly asked: readonly string[]
  readonly handover: (Handover & { readonly abdicated: boolean }) | undefined
  /** Number of the newest checkpoint. */
  readonly checkpoint: number
}

/** The newest acknowledged stamp of each node. A file keeps it across restarts of the agent, not across boots. */
export type Lease = ReadonlyMap<string, number>

export interface PrimaryState {
  readonly node: string
  readonly copies: readonly string[]
  readonly durable: PrimaryDurable
  readonly boot: number
  readonly lease: Lease
  /** The newest known start of each copy's agent. */
  readonly starts: ReadonlyMap<string, number>
  /** The newest checkpoint that each copy has acknowledged. */
  readonly stored: ReadonlyMap<string, number>
}

export const ignore = (state: PrimaryState): Step<PrimaryState> => ({ state, send: [] })

const NONE: ReadonlyMap<string, number> = new Map()

export interface StartedPrimary {
  readonly node: string
  readonly copies: readonly string[]
  readonly durable: PrimaryDurable
  readonly boot: number
  /** The lease file and its boot. A lease of another boot has expired. */
  readonly file: { readonly boot: number; readonly lease: Lease } | undefined
}

export function startPrimary({ node, copies, durable, boot, file }: StartedPrimary): PrimaryState {
  const lease = file !== undefined && file.boot === boot ? file.lease : NONE
  return { node, copies, durable, boot, lease, starts: NONE, stored: NONE }
}

/** Nodes from which the primary needs promises: at least those that the stored record lists. */
export const requiredNodes = ({ durable }: PrimaryState): readonly string[] =>
  durable.asked.length === 0 ? durable.configured : [...durable.configured, ...durable.asked]

/** The end of the lease on the primary's clock; infinite if no promise is needed. */
export function leaseEndMs(state: PrimaryState, { leaseMs }: PromotionTimings): number {
  let end = Number.POSITIVE_INFINITY
  for (const node of requiredNodes(state))
    end = Math.min(end, (state.lease.get(node) ?? Number.NEGATIVE_INFINITY) + leaseMs)
  return end
}

/** Writers start only while the lease is live, and early enough for the fencer. */
export const mayStartWriters = (state: PrimaryState, nowMs: number, timings: PromotionTimings): boolean =>
  nowMs < leaseEndMs(state, timings) - timings.fenceMs

export const hasAbdicated = ({ durable }: PrimaryState): boolean => durable.handover?.abdicated === true

/** One renewal for each copy, also for those that may become promotable. */
export function renewPromises(state: PrimaryState, nowMs: number): readonly Message[] {
  if (hasAbdicated(state)) return []
  const { node: from, durable, boot, starts } = state
  return state.copies.map((to) => ({
    kind: 'renew',
    from,
    to,
    epoch: durable.epoch,
    cv: durable.cv,
    sent: { boot, ms: nowMs },
    start: starts.get(to),
  }))
}

/** The lease counts from the stamp of the renewal, not from the arrival of its acknowledgment. */
export function onAck(state: PrimaryState, ack: RenewAck, nowMs: number): Step<PrimaryState> {
  if (ack.epoch !== state.durable.epoch) return ignore(state)
  if (hasAbdicated(state)) return ignore(state)
  if (ack.sent.boot !== state.boot) return ignore(state)
  const since = Math.min(ack.sent.ms, nowMs)
  const before = state.lease.get(ack.from) ?? Number.NEGATIVE_INFINITY
  const lease = since > before ? new Map(state.lease).set(ack.from, since) : state.lease
  const known = state.starts.get(ack.from) ?? 0
  const starts = ack.start > known ? new Map(state.starts).set(ack.from, ack.start) : state.starts
  return ignore({ ...state, lease, starts })
}

/**
 * Uses a stored configuration only if it is newer than any that the primary has acted on. A newer one in the same epoch
 * proves that a handover was canceled, because no other transaction changes the record during a handover.
 */
export function onPrimaryConfigured(state: PrimaryState, record: GroupRecord): PrimaryState {
  const { durable } = state
  const { cv, promotable: configured, handover } = record
  if (record.epoch !== durable.epoch) return state
  if (cv <= durable.cv) return state
  const next = handover && { ...handover, abdicated: false }
  return { ...state, durable: { ...durable, cv, configured, asked: [], handover: next } }
}

/** Records that the copy holds a whole checkpoint. */
export function onStored(state: PrimaryState, { from, checkpoint }: Stored): Step<PrimaryState> {
  if (checkpoint.epoch !== state.durable.epoch) return ignore(state)
  if (checkpoint.number <= (state.stored.get(from) ?? 0)) return ignore(state)
  return ignore({ ...state, stored: new Map(state.stored).set(from, checkpoint.number) })
}
