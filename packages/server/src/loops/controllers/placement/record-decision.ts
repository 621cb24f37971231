// Writes a decision record in the same transaction as the placement record, so that both are written or neither. A
// decision equal to the last one is not recorded. See docs/design/placement.md#decision-records

import type { TenantId } from '@holdfast/contract'
import type { PlacementPlan } from '@holdfast/core/placement'
import { decisionId } from '../../../operations/deployments/read/decisions.ts'
import { decisions } from '../../../store/records.ts'
import { inTenant, type Transaction } from '../../../store/transaction.ts'

export function recordDecision(transaction: Transaction, tenant: TenantId, plan: PlacementPlan): void {
  const { deployment, next, refused, status, failing } = plan
  const matrix = plan.recordedMatrix()
  if (next?.decided === undefined || matrix === undefined) return
  const { number, at, reason } = next.decided
  const { candidates, groups } = matrix
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
      summary: refused?.summary ?? status.message,
      replicas: { ...status.replicas },
      ...(failing.length === 0 ? {} : { containers: [...failing] }),
      candidates: [...candidates],
      ...(groups === undefined ? {} : { groups: [...groups] }),
      cure: [...(refused?.cure ?? [])],
    },
  )
}
