// Each change of a decision about a deployment is recorded once, in the transaction that writes the placement: what is
// recorded is what was decided, whoever dies when. An equal decision is not recorded, however often it is made. ADR 0031.

import type { Candidate, TenantId } from '@holdfast/contract'
import { DEPENDENCY_UNHEALTHY, type Explanation } from '@holdfast/core'
import { decisionId } from '../../operations/deployments/read/decisions.ts'
import { decisionParts, decisions, deployments, type StoredPlacement } from '../../store/records.ts'
import { inTenant, type Transaction } from '../../store/transaction.ts'
import type { Leadership } from '../leadership/lead-shards.ts'
import type { Decision } from './decision.ts'
import { partsOf } from './placement-events.ts'

/** What `decided` of the next placement is: the last one's where this is no other decision. */
export function decidedNext(
  { before, added, now }: Pick<Decision, 'before' | 'added' | 'now'>,
  next: StoredPlacement,
  reason: string,
): NonNullable<StoredPlacement['decided']> {
  const last = before?.decided
  const isSame = last?.reason === reason && added.length === 0 && before !== undefined
  if (isSame && saysTheSame(before, next)) return last
  return { number: (last?.number ?? 0) + 1, at: laterThan(last?.at, now), reason }
}

/** What nodes report moves all the time and makes no other decision; what a dependency has is told as it is. */
function saysTheSame(before: StoredPlacement, next: StoredPlacement): boolean {
  const [was, is] = [before.shortfall, next.shortfall]
  return (
    before.revision === next.revision &&
    before.reportedPhase === next.reportedPhase &&
    before.reportedRefusals === next.reportedRefusals &&
    before.reportedSecrets?.length === next.reportedSecrets?.length &&
    was?.reason === is?.reason &&
    (is?.reason !== DEPENDENCY_UNHEALTHY || was?.summary === is.summary)
  )
}

/** The clock of a new owner may be behind the last one's: the later decision has the later time all the same. */
function laterThan(last: string | undefined, now: string): string {
  if (last === undefined || now > last) return now
  return new Date(Date.parse(last) + 1).toISOString()
}

/** A matrix of which all but the last part is stored; it counts once a decision names it. */
export interface StoredMatrix {
  readonly number: number
  readonly refusals: string
  readonly explanation: Explanation
  readonly ids: readonly string[]
  readonly last: readonly Candidate[]
}

/** Whether its matrix has to be stored before it. */
export const isLarge = (decision: Decision): boolean => partsToRecord(decision).length > 1

/** What is too large for the transaction of the decision goes before it, as its events do (SAFETY 4g). */
export async function storeMatrix(
  leadership: Pick<Leadership, 'fenced'>,
  tenant: TenantId,
  decision: Decision,
): Promise<StoredMatrix | undefined> {
  const { next, refused, stored } = decision
  const parts = partsToRecord(decision)
  if (parts.length < 2 || refused === undefined || next?.decided === undefined) return undefined
  const { number, at } = next.decided
  const id = decisionId({ uid: stored.uid, number, at: Date.parse(at) })
  const before = parts.slice(0, -1).map((candidates, index) => ({ candidates, id: `${id}/${index}` }))
  for (const part of before)
    await leadership.fenced<void>(tenant, (transaction) => {
      // What is removed meanwhile must leave nothing behind.
      const isThere = transaction.get(inTenant(tenant, deployments, stored.spec.name))?.uid === stored.uid
      if (isThere)
        transaction.put(inTenant(tenant, decisionParts, part.id), { v: 1, candidates: part.candidates })
      return { kind: isThere ? 'commit' : 'abort', result: undefined }
    })
  const ids = before.map((part) => part.id)
  return { number, refusals: next.reportedRefusals, explanation: refused, ids, last: parts.at(-1) ?? [] }
}

const DROPPED_AT_ONCE = 100

/** No decision will name it: nodes that change all the time must not pile up what nobody reads. */
export async function dropMatrix(
  leadership: Pick<Leadership, 'fenced'>,
  tenant: TenantId,
  { ids }: StoredMatrix,
): Promise<void> {
  for (let from = 0; from < ids.length; from += DROPPED_AT_ONCE)
    await leadership.fenced<void>(tenant, (transaction) => {
      for (const id of ids.slice(from, from + DROPPED_AT_ONCE))
        transaction.delete(inTenant(tenant, decisionParts, id))
      return { kind: 'commit', result: undefined }
    })
}

/** False: its matrix is too large and is not stored, so that it cannot be recorded and must not be written. */
export function recordDecision(
  transaction: Transaction,
  tenant: TenantId,
  decision: Decision,
  matrix: StoredMatrix | undefined,
): boolean {
  const { stored, next, refused, status } = decision
  const parts = partsToRecord(decision)
  if (next?.decided === undefined || parts.length === 0) return true
  const { number, at, reason } = next.decided
  // Decided anew on other numbers, it is the same decision still.
  const isStored = matrix?.number === number && matrix.refusals === next.reportedRefusals
  if (parts.length > 1 && !isStored) return false
  const explanation = isStored ? matrix.explanation : refused
  transaction.put(inTenant(tenant, decisions, decisionId({ uid: stored.uid, number, at: Date.parse(at) })), {
    ...{ v: 1, uid: stored.uid, name: stored.spec.name, number, decidedAt: at, revision: stored.revision },
    ...{ phase: status.phase, reason, summary: explanation?.summary ?? status.message },
    replicas: { ...status.replicas },
    candidates: [...(isStored ? matrix.last : (parts[0] ?? []))],
    ...(isStored ? { parts: [...matrix.ids] } : {}),
    cure: [...(explanation?.cure ?? [])],
  })
  return true
}

/** None where this is no other decision than the last one. */
function partsToRecord({ before, next, refused }: Decision): Candidate[][] {
  if (next?.decided === undefined || next.decided === before?.decided) return []
  return refused === undefined ? [[]] : partsOf(refused)
}
