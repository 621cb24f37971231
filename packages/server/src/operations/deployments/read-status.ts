// How a deployment fares, with what happened to it, newest first. DECISIONS 2.

import {
  type DeploymentStatus,
  deploymentStatusShape,
  type ListedEvent,
  list,
  listedEventShape,
  object,
  type TenantId,
} from '@holdfast/contract'
import type { Store } from '../../store/store.ts'
import { done, type Outcome } from '../caller.ts'
import { listEvents } from '../read-events.ts'
import { deploymentView } from './deployment-view.ts'
import { findStored } from './find-deployment.ts'

export const statusWithTimelineShape = object({
  ...deploymentStatusShape.fields,
  timeline: list(listedEventShape),
})

type StatusWithTimeline = DeploymentStatus & { readonly timeline: readonly ListedEvent[] }

const TIMELINE = 50

export async function readStatus(
  store: Store,
  tenant: TenantId,
  path: string,
): Promise<Outcome<StatusWithTimeline>> {
  await store.fresh()
  const found = findStored(store, tenant, path)
  if (!found.ok) return found
  const query = { limit: TIMELINE, after: undefined, type: undefined, severity: undefined }
  const listed = await listEvents(store, tenant, { ...query, subject: found.value.uid })
  if (!listed.ok) return listed
  const { status } = deploymentView(store, tenant, found.value)
  return done({ ...status, timeline: listed.value.items.toReversed() })
}
