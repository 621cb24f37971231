// How long decisions are kept: those that were in force within the last 30 days, and of a tenant no more than so many and so
// many bytes. Of each deployment the oldest go first, so what is kept of it is whole; and one that is in force still goes
// only where the bounds leave no other, since every moment from its time on is answered by it. ADR 0031.

import type { TenantId } from '@holdfast/contract'
import { readDecisionId } from '../operations/deployments/read/decisions.ts'
import { type Collection, decisionParts, decisions } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { inTenant } from '../store/transaction.ts'

export interface DecisionBounds {
  readonly days: number
  readonly max: number
  readonly bytes: number
}

export const DECISION_BOUNDS: DecisionBounds = { days: 30, max: 10_000, bytes: 4 * 1024 ** 2 }

const DAY_MS = 24 * 3_600_000
/** A part is written moments before the decision that names it; one that is older will not be named any more. */
const PART_WAITS_MS = 3_600_000
const AT_ONCE = 100

interface Piece {
  readonly collection: Collection<unknown>
  readonly id: string
}

/** A decision with all its parts, and with those of tries that came to nothing. */
interface Kept {
  readonly uid: string
  readonly number: number
  readonly at: number
  bytes: number
  /** The record itself is there, and not only parts. */
  isMade: boolean
  readonly pieces: Piece[]
}

export async function retainDecisions(
  store: Store,
  tenant: TenantId,
  now: number,
  bounds: DecisionBounds = DECISION_BOUNDS,
): Promise<void> {
  const kept = keptOf(store, tenant)
  const past = new Set(old(kept, now, bounds.days))
  const others = kept.filter((each) => !past.has(each))
  const pieces = [...past, ...beyond(others, bounds)].flatMap((each) => each.pieces)
  for (let from = 0; from < pieces.length; from += AT_ONCE)
    await store.transact((transaction) => {
      for (const { collection, id } of pieces.slice(from, from + AT_ONCE))
        transaction.delete(inTenant(tenant, collection, id))
      return { kind: 'commit', result: undefined }
    })
}

/** By deployment and number. */
function keptOf(store: Pick<Store, 'keysOf'>, tenant: TenantId): Kept[] {
  const found = new Map<string, Kept>()
  for (const collection of [decisions, decisionParts])
    for (const { id, bytes } of store.keysOf(collection, tenant)) {
      const read = readDecisionId(id)
      if (read === undefined) continue
      const { uid, number, at } = read
      const group = `${uid}/${number}`
      const kept = found.get(group) ?? { uid, number, at, bytes: 0, isMade: false, pieces: [] }
      found.set(group, kept)
      kept.bytes += bytes
      kept.isMade ||= collection === decisions
      kept.pieces.push({ collection, id })
    }
  return [...found.values()].sort((left, right) => left.at - right.at || left.number - right.number)
}

/** When each that another one follows ceased to be in force. The others are, or are about to be. */
function supersededAt(kept: readonly Kept[]): Map<Kept, number> {
  const next = new Map<string, Kept>()
  const times = new Map<Kept, number>()
  for (const each of kept.toReversed()) {
    const later = next.get(each.uid)
    if (later !== undefined) times.set(each, later.at)
    if (each.isMade) next.set(each.uid, each)
  }
  return times
}

function old(kept: readonly Kept[], now: number, days: number): Kept[] {
  const ended = supersededAt(kept)
  return kept.filter((each) => {
    if (!each.isMade && !ended.has(each)) return each.at < now - PART_WAITS_MS
    return (ended.get(each) ?? now) < now - days * DAY_MS
  })
}

function beyond(kept: readonly Kept[], { max, bytes }: DecisionBounds): Kept[] {
  let count = kept.length
  let sum = kept.reduce((total, each) => total + each.bytes, 0)
  const ended = supersededAt(kept)
  const inForce = kept.filter((each) => each.isMade && !ended.has(each))
  return [...kept.filter((each) => ended.has(each)), ...inForce].filter((each) => {
    if (count <= max && sum <= bytes) return false
    count -= 1
    sum -= each.bytes
    return true
  })
}
