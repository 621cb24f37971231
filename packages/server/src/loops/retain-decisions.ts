// Deletes expired placement decisions. A decision is kept for 30 days after a newer decision superseded it, within a
// number and a byte limit per tenant. The oldest decisions of each owner are deleted first, and the current decision
// last, because `holdfast why` needs it. See docs/adr/0031-recorded-decisions.md

import type { Owner, TenantId } from '@holdfast/contract'
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
/** Age at which a decision part without a decision is deleted; normally a decision is written just after its parts. */
const PART_WAITS_MS = 3_600_000
const AT_ONCE = 100

interface StoredPart {
  readonly collection: Collection<unknown>
  readonly id: string
}

/** A stored decision with all its parts, including parts of aborted attempts to write the decision. */
interface Kept {
  readonly owner: Owner
  readonly number: number
  readonly at: number
  bytes: number
  /** Whether the decision itself was written; false if only parts of it exist. */
  isWritten: boolean
  readonly pieces: StoredPart[]
}

export async function retainDecisions(
  store: Store,
  tenant: TenantId,
  now: number,
  bounds: DecisionBounds = DECISION_BOUNDS,
): Promise<void> {
  const kept = keptOf(store, tenant)
  const past = new Set(expired(kept, now, bounds.days))
  const others = kept.filter((each) => !past.has(each))
  const pieces = [...past, ...overBounds(others, bounds)].flatMap((each) => each.pieces)
  for (let from = 0; from < pieces.length; from += AT_ONCE)
    await store.transact((transaction) => {
      for (const { collection, id } of pieces.slice(from, from + AT_ONCE))
        transaction.delete(inTenant(tenant, collection, id))
      return { kind: 'commit', result: undefined }
    })
}

/** Groups the records of decisions by owner and decision number, oldest first. */
function keptOf(store: Pick<Store, 'keysOf'>, tenant: TenantId): Kept[] {
  const found = new Map<string, Kept>()
  for (const collection of [decisions, decisionParts])
    for (const { id, bytes } of store.keysOf(collection, tenant)) {
      const read = readDecisionId(id)
      if (read === undefined) continue
      const { owner, number, at } = read
      const group = `${owner}/${number}`
      const kept = found.get(group) ?? { owner, number, at, bytes: 0, isWritten: false, pieces: [] }
      found.set(group, kept)
      kept.bytes += bytes
      kept.isWritten ||= collection === decisions
      kept.pieces.push({ collection, id })
    }
  return [...found.values()].sort((left, right) => left.at - right.at || left.number - right.number)
}

/** The time at which each decision was superseded. A decision that is not in the map is current or not written yet. */
function supersededAt(kept: readonly Kept[]): Map<Kept, number> {
  const next = new Map<string, Kept>()
  const times = new Map<Kept, number>()
  for (const each of kept.toReversed()) {
    const later = next.get(each.owner)
    if (later !== undefined) times.set(each, later.at)
    if (each.isWritten) next.set(each.owner, each)
  }
  return times
}

function expired(kept: readonly Kept[], now: number, days: number): Kept[] {
  const ended = supersededAt(kept)
  return kept.filter((each) => {
    if (!each.isWritten && !ended.has(each)) return each.at < now - PART_WAITS_MS
    return (ended.get(each) ?? now) < now - days * DAY_MS
  })
}

/**
 * The decisions beyond the bounds: superseded ones, always the oldest of the owner that has the most bytes, so that a
 * deployment whose explanation changes all the time pushes out its own history only. Current decisions are the last.
 */
function overBounds(kept: readonly Kept[], { max, bytes }: DecisionBounds): Kept[] {
  let count = kept.length
  let sum = kept.reduce((total, each) => total + each.bytes, 0)
  const ended = supersededAt(kept)
  const dropped: Kept[] = []
  const drop = (each: Kept): void => {
    count -= 1
    sum -= each.bytes
    dropped.push(each)
  }
  const isOver = (): boolean => count > max || sum > bytes
  const owners = [...Map.groupBy(kept, ({ owner }) => owner).values()].map((own) => ({
    bytes: own.reduce((total, each) => total + each.bytes, 0),
    past: own.filter((each) => ended.has(each)).values(),
  }))
  while (isOver() && owners.length > 0) {
    const largest = owners.reduce((one, other) => (other.bytes > one.bytes ? other : one))
    const next = largest.past.next()
    if (next.done) owners.splice(owners.indexOf(largest), 1)
    else {
      largest.bytes -= next.value.bytes
      drop(next.value)
    }
  }
  for (const each of kept) if (isOver() && each.isWritten && !ended.has(each)) drop(each)
  return dropped
}
