// Reads the placement decisions about a deployment: the stored records, and the API's answer for a given time.

import { type Candidate, type DeploymentUid, ownerOf, type TenantId, type Why } from '@holdfast/contract'
import { keptDecisions } from '@holdfast/server/operations/deployments/read/decisions'
import { readWhy } from '@holdfast/server/operations/deployments/read/read-why'
import { decisions, type StoredDecision } from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'
import { realClock as clock } from '@holdfast/server/system-clock'

const residency = { enforcement: true, regions: {} }
/** No test asks for the present explanation here. */
const views = { of: () => Promise.reject(new Error('the test reads past decisions only')) }

const quotas = { limit: () => 0, list: () => ({ items: [] }) }
const noUsage = async () => ({ nodes: new Map(), unreachable: [] })

/** The API's explanation of a deployment's placement at the time `at`, in milliseconds since 1970: all its pages. */
export async function whyAt(store: Store, tenant: TenantId, name: string, at: number): Promise<Why> {
  const deps = { store, clock, views, residency, quotas, readUsage: noUsage }
  const candidates: Candidate[] = []
  let cursor: string | undefined
  for (;;) {
    const query = { at: new Date(at).toISOString(), limit: 500, cursor }
    const read = await readWhy(deps, tenant, name, query)
    if (!read.ok) throw new Error('the read was rejected')
    const { nextCursor, ...why } = read.value
    candidates.push(...why.candidates)
    if (nextCursor === undefined || nextCursor === null) return { ...why, candidates }
    cursor = nextCursor
  }
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
