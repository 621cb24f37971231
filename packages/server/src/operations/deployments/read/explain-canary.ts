// Explains the canary of a deployment: its state in words and, if one of its replicas has no node, every node.

import type { ResidencyRules, TenantId } from '@holdfast/contract'
import { canaryText, isCanaryReplica } from '@holdfast/core'
import type { PagedExplanation } from '@holdfast/core/placement/explain-placement'
import { canarySnapshot } from '../../../scheduling/canary-target.ts'
import type { StoredDeployment, StoredPlacement } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { type ExplainDeps, explainNow } from './explain-now.ts'

interface ExplainedCanary {
  readonly text: string
  /** Present if a replica of the canary has no node. */
  readonly explanation?: PagedExplanation
}

/** Undefined if the deployment has no canary. */
export async function explainCanary(
  deps: ExplainDeps & { readonly store: Pick<Store, 'get'>; readonly residency: ResidencyRules },
  tenant: TenantId,
  stored: StoredDeployment,
  placement: StoredPlacement | undefined,
): Promise<ExplainedCanary | undefined> {
  const { uid, revision, canary } = stored
  if (canary === undefined) return undefined
  const text = canaryText(canary)
  const source = canarySnapshot(deps.store, tenant, stored, deps.residency)
  if (source === undefined || canary.reason !== 'unschedulable') return { text }
  const running = (placement?.assignments ?? []).filter(
    (each) => isCanaryReplica(each) && each.desired === 'running',
  )
  const missing = Math.max(1, canary.replicas - running.length)
  const id = `${uid}/${revision}/canary ${canary.startedAt}`
  const explanation = await explainNow(deps, tenant, { id, workload: source.workload }, missing)
  return explanation.unplaced === 0 ? { text } : { text: `${text} ${explanation.summary}`, explanation }
}
