// Explains the canary of a deployment: its state in words and, if one of its replicas has no node, every node.

import type { TenantId } from '@holdfast/contract'
import { avoiding, canaryText, isCanaryReplica } from '@holdfast/core'
import type { PagedExplanation } from '@holdfast/core/placement/explain-placement'
import { canarySnapshot } from '../../../scheduling/canary-target.ts'
import type { StoredDeployment, StoredPlacement } from '../../../store/records.ts'
import type { DeploymentDeps } from '../deps.ts'
import { type ExplainDeps, explainNow, keyOfAvoided } from './explain-now.ts'

interface ExplainedCanary {
  readonly text: string
  /** Present if a replica of the canary has no node. */
  readonly explanation?: PagedExplanation
}

/** Undefined if the deployment has no canary. */
export async function explainCanary(
  deps: ExplainDeps & Pick<DeploymentDeps, 'store' | 'clock' | 'residency'>,
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
  const workload = avoiding(source.workload, placement?.avoided, deps.clock.now())
  const id = `${uid}/${revision}/canary ${canary.startedAt}${keyOfAvoided(workload)}`
  const explanation = await explainNow(deps, tenant, { id, workload }, missing)
  return explanation.unplaced === 0 ? { text } : { text: `${text} ${explanation.summary}`, explanation }
}
