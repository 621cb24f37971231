// GET /deployments/{name}/status: the status of a deployment with its timeline, newest first.

import { ownerOf, type StatusWithTimeline, type TenantId } from '@holdfast/contract'
import type { Store } from '../../../store/store.ts'
import { placementAt } from '../../../store/transaction.ts'
import { done, type Outcome } from '../../caller.ts'
import { deploymentView } from './deployment-view.ts'
import { findStored } from './find-deployment.ts'
import { readTimeline } from './read-timeline.ts'

export async function readStatus(
  store: Store,
  tenant: TenantId,
  path: string,
): Promise<Outcome<StatusWithTimeline>> {
  await store.fresh()
  const found = findStored(store, tenant, path)
  if (!found.ok) return found
  const { uid } = found.value
  const { assignments = [] } = store.get(placementAt(tenant, ownerOf('deployment', uid)))?.record ?? {}
  const nodeIds = assignments.map(({ nodeId }) => nodeId)
  const timeline = await readTimeline(store, tenant, { uid, nodeIds })
  const { status } = deploymentView(store, tenant, found.value)
  return done({ ...status, ...timeline })
}
