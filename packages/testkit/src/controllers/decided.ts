// Reads the placement decisions about a deployment: the stored records, and the API's answer for a given time.

import { type DeploymentUid, ownerOf, type TenantId, type Why } from '@holdfast/contract'
import { keptDecisions } from '@holdfast/server/operations/deployments/read/decisions'
import { readWhy } from '@holdfast/server/operations/deployments/read/read-why'
import { decisions, type StoredDecision } from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'
import { realClock as clock } from '@holdfast/server/system-clock'

const quotas = { limit: () => 100_000, list: () => ({ items: [] }) }
const residency = { enforcement: true, regions: {} }

/** The API's explanation of a deployment's placement at the time `at`, in milliseconds since 1970. */
export async function whyAt(store: Store, tenant: TenantId, name: string, at: number): Promise<Why> {
  const deps = { store, clock, quotas, residency }
  const read = await readWhy(deps, tenant, name, new Date(at).toISOString())
  if (!read.ok) throw new Error('the read was rejected')
  return read.value
}

/** Stored placement decisions about a deployment, oldest first. */
export async function decisionsOf(
  store: Store,
  tenant: TenantId,
  uid: DeploymentUid,
): Promise<StoredDecision[]> {
  await store.fresh()
  const keys = keptDecisions(store, tenant, ownerOf('deployment', uid)).map(({ key }) => key)
  return (await store.read(decisions, keys)).flatMap((each) => each ?? [])
}
