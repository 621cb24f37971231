// POST /api/v1/deployments/{name}/canary/promote: stores the change of a canary as an ordinary revision. It passes admission
// again, because the world may have changed since the start. The rollout adopts the replicas of the canary.

import { decode, type Json, promoteCanaryShape } from '@holdfast/contract'
import { checkCanaryPromotion } from '@holdfast/core'
import { type Caller, type Outcome, refused } from '../../caller.ts'
import { checkShape } from '../../check-shape.ts'
import type { DeploymentDeps } from '../deps.ts'
import { findStored } from '../read/find-deployment.ts'
import { updateDeployment } from '../write/update-deployment.ts'
import type { Written } from '../write/written.ts'
import type { CanaryOptions } from './start-canary.ts'

export async function promoteCanary(
  deps: DeploymentDeps,
  caller: Caller,
  pathName: string,
  sent: Json,
  { ifMatch, ...kept }: CanaryOptions,
): Promise<Outcome<Written>> {
  const faults = checkShape(promoteCanaryShape, sent)
  if (faults.length > 0) return refused(...faults)
  const { force = false } = decode(promoteCanaryShape, sent)
  await deps.store.fresh()
  const found = findStored(deps.store, caller.tenant, pathName)
  if (!found.ok) return found
  const { canary } = found.value
  const early = checkCanaryPromotion(canary, force)
  if (canary === undefined || early.length > 0) return refused(...early)
  const { change, digest, startedAt } = canary
  const promotion = { ...kept, startedAt, digest: digest ?? undefined, force }
  return updateDeployment(deps, caller, pathName, change, { ifMatch, promotion })
}
