// Changes a stored volume in one transaction: the volume, the counter of bytes, the audit entry and the events. Because
// every change compares the counter, concurrent changes cannot claim the same room of a storage pool.

import { isVolumeId, type Volume } from '@holdfast/contract'
import { checkQuotas, keepPromotable, placedPhase, quotaBytes, reject, withCopies } from '@holdfast/core'
import { timestamp } from '../../ports/clock.ts'
import { type StoredVolume, volumes } from '../../store/records.ts'
import type { TransactionDecision } from '../../store/store.ts'
import { inTenant, type Transaction } from '../../store/transaction.ts'
import { type Caller, done, type Outcome, refused } from '../caller.ts'
import { type Kept, keepOnce, keepUnchanged } from '../idempotency.ts'
import { checkIfMatch, requireLiveCaller } from '../preconditions.ts'
import { type NewEvent, recordAudit, recordEvent } from '../record-write.ts'
import { compareNewNodes } from './copies-on-node.ts'
import type { VolumeDeps } from './deps.ts'
import { volumeNotFound } from './read-volumes.ts'
import { bytesQuota, countBytes } from './volume-use.ts'
import { volumeView } from './volume-view.ts'

/** The parts of a volume that a request changes; undefined if it changes nothing. */
type NextVolume = Partial<Pick<StoredVolume, 'spec' | 'copies' | 'phase'>> | undefined

export interface VolumeChange {
  readonly action: string
  readonly ifMatch?: string | undefined
  readonly kept?: Kept<Volume>
  decide(stored: StoredVolume): Outcome<NextVolume>
  events?(next: StoredVolume, before: StoredVolume): readonly NewEvent[]
}

const NOT_KEPT: Kept<Volume> = { idempotency: undefined, answerOf: (body) => ({ status: 200, body }) }

export async function changeVolume(
  deps: VolumeDeps,
  caller: Caller,
  id: string,
  change: VolumeChange,
): Promise<Outcome<Volume>> {
  return deps.store.transact<Outcome<Volume>>((transaction) => {
    const found = findToChange(transaction, caller, id, change.ifMatch)
    if (!found.ok) return { kind: 'abort', result: found }
    const { phase } = found.value
    if (FINAL.includes(phase))
      return { kind: 'abort', result: refused(reject('volume_not_ready', 'id', phase, { phase })) }
    const decided = change.decide(found.value)
    if (!decided.ok) return { kind: 'abort', result: decided }
    return storeChange(deps, transaction, caller, change, found.value, decided.value)
  })
}

/** Finds a volume of the caller's tenant; rejects a revoked token and an outdated If-Match. */
export function findToChange(
  transaction: Transaction,
  caller: Caller,
  id: string,
  ifMatch: string | undefined,
): Outcome<StoredVolume> {
  const gone = requireLiveCaller(transaction, caller)
  if (gone !== undefined) return refused(gone)
  const stored = isVolumeId(id) ? transaction.get(inTenant(caller.tenant, volumes, id)) : undefined
  if (stored === undefined) return volumeNotFound(id)
  const conflict = checkIfMatch(ifMatch, stored.revision)
  return conflict === undefined ? done(stored) : refused(conflict)
}

function storeChange(
  deps: VolumeDeps,
  transaction: Transaction,
  caller: Caller,
  { action, kept = NOT_KEPT, events }: VolumeChange,
  stored: StoredVolume,
  changes: NextVolume,
): TransactionDecision<Outcome<Volume>> {
  const { store, clock, answers } = deps
  const { tenant } = caller
  if (changes === undefined)
    return keepUnchanged(answers, transaction, caller, kept, volumeView(store, tenant, stored))
  const next = withChanges(stored, changes, timestamp(clock))
  const added = quotaBytes(next.spec) - quotaBytes(stored.spec)
  const full = checkQuotas(bytesQuota(deps, transaction, tenant, added))
  if (full.length > 0) return { kind: 'abort', result: refused(...full) }
  compareNewNodes(transaction, tenant, stored, next)
  countBytes(transaction, tenant, added)
  transaction.put(inTenant(tenant, volumes, next.id), next)
  for (const event of events?.(next, stored) ?? []) recordEvent(transaction, clock, tenant, event)
  const subject = { kind: 'Volume', name: next.spec.name }
  recordAudit(transaction, clock, caller, { action, subject, revision: next.revision })
  return keepOnce(answers, transaction, caller, kept, volumeView(store, tenant, next))
}

/** The phases of a volume that nothing but its deletion changes. */
const FINAL: readonly StoredVolume['phase'][] = ['Lost', 'Deleting']

/** The phases that follow from the copies. The other phases end by what they wait for. */
const PLACED: readonly StoredVolume['phase'][] = ['Pending', 'Materializing', 'Ready']

function withChanges(stored: StoredVolume, changes: NonNullable<NextVolume>, now: string): StoredVolume {
  const { copies = stored.copies, ...others } = changes
  const next = { ...withCopies(stored, copies, now), ...others, revision: stored.revision + 1 }
  const [first] = next.copies
  const primary =
    next.primary ?? (first === undefined ? null : { nodeId: first.nodeId, epoch: 1, since: now })
  const placed = PLACED.includes(next.phase) ? placedPhase(next.spec, next.copies) : {}
  return keepPromotable(stored, { ...next, primary, ...placed })
}
