// Writes a decision record in the same transaction as the placement record, so that both are written or neither. A
// decision equal to the last one is not recorded. See docs/design/placement.md#decision-records

import type { Candidate, TenantId } from '@holdfast/contract'
import type { Explanation } from '@holdfast/core'
import type { PlacementPlan } from '@holdfast/core/placement'
import { decisionId } from '../../../operations/deployments/read/decisions.ts'
import { decisionParts, decisions, deployments } from '../../../store/records.ts'
import { inTenant, type Transaction } from '../../../store/transaction.ts'
import type { Leadership } from '../../leadership/lead-shards.ts'

/** A candidate matrix whose parts, except the last, are stored. Stored parts are unused until a decision names them. */
export interface StoredMatrix {
  readonly number: number
  readonly refusals: string
  readonly explanation: Explanation
  readonly ids: readonly string[]
  readonly last: readonly Candidate[]
}

/** Whether the candidate matrix is too large for the transaction of the plan, so that it must be stored in advance. */
export const hasLargeMatrix = (plan: PlacementPlan): boolean => plan.recordedParts().length > 1

/** Stores all parts of the candidate matrix except the last, each in its own transaction. */
export async function storeMatrix(
  leadership: Pick<Leadership, 'fenced'>,
  tenant: TenantId,
  plan: PlacementPlan,
): Promise<StoredMatrix | undefined> {
  const { next, refused, deployment } = plan
  const parts = plan.recordedParts()
  if (parts.length < 2 || refused === undefined || next?.decided === undefined) return undefined
  const { number, at } = next.decided
  const id = decisionId({ owner: next.owner, number, at: Date.parse(at) })
  const before = parts.slice(0, -1).map((candidates, index) => ({ candidates, id: `${id}/${index}` }))
  for (const part of before)
    await leadership.fenced<void>(tenant, (transaction) => {
      // No part is stored for a deployment that was deleted after the plan was made.
      const isThere =
        transaction.get(inTenant(tenant, deployments, deployment.spec.name))?.uid === deployment.uid
      if (isThere)
        transaction.put(inTenant(tenant, decisionParts, part.id), { v: 1, candidates: part.candidates })
      return { kind: isThere ? 'commit' : 'abort', result: undefined }
    })
  const ids = before.map((part) => part.id)
  return { number, refusals: next.reportedRefusals, explanation: refused, ids, last: parts.at(-1) ?? [] }
}

const DROPPED_AT_ONCE = 100

/** Deletes the stored parts of a matrix that no decision will reference; otherwise unused parts would accumulate. */
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

/** Records the decision. Returns false if its large matrix is not stored yet; the plan must then not be written. */
export function recordDecision(
  transaction: Transaction,
  tenant: TenantId,
  plan: PlacementPlan,
  matrix: StoredMatrix | undefined,
): boolean {
  const { deployment, next, refused, status, failing } = plan
  const parts = plan.recordedParts()
  if (next?.decided === undefined || parts.length === 0) return true
  const { number, at, reason } = next.decided
  // A stored matrix can be used again if the new plan has the same decision number and the same reasons against nodes.
  const isStored = matrix?.number === number && matrix.refusals === next.reportedRefusals
  if (parts.length > 1 && !isStored) return false
  const explanation = isStored ? matrix.explanation : refused
  transaction.put(
    inTenant(tenant, decisions, decisionId({ owner: next.owner, number, at: Date.parse(at) })),
    {
      v: 1,
      owner: next.owner,
      name: deployment.spec.name,
      number,
      decidedAt: at,
      revision: deployment.revision,
      phase: status.phase,
      reason,
      summary: explanation?.summary ?? status.message,
      replicas: { ...status.replicas },
      ...(failing.length === 0 ? {} : { containers: [...failing] }),
      candidates: [...(isStored ? matrix.last : (parts[0] ?? []))],
      ...(isStored ? { parts: [...matrix.ids] } : {}),
      cure: [...(explanation?.cure ?? [])],
    },
  )
  return true
}
