// The records that requests about a canary store, for tests of controllers without the API.

import type { JsonObject, TenantId } from '@holdfast/contract'
import { canarySpec } from '@holdfast/server/scheduling/canary-spec'
import { deployments, type StoredCanary, type StoredDeployment } from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'
import { inTenant } from '@holdfast/server/store/transaction'
import { put } from './placing-world.ts'

export function storedOf(store: Store, tenant: TenantId, name = 'web'): StoredDeployment {
  const stored = store.get(inTenant(tenant, deployments, name))?.record
  if (stored === undefined) throw new Error(`no deployment is named ${name}`)
  return stored
}

/** Stores a canary with two replicas, as its start does. */
export async function startCanary(
  store: Store,
  tenant: TenantId,
  clock: { now(): number },
  change: JsonObject,
  over: Partial<StoredCanary> = {},
): Promise<void> {
  const stored = storedOf(store, tenant)
  const now = new Date(clock.now()).toISOString()
  const canary: StoredCanary = {
    phase: 'progressing',
    reason: '',
    since: now,
    startedAt: now,
    replicas: 2,
    weight: 10,
    observe: '10m',
    failures: [],
    change,
    digest: stored.digest,
    ...over,
  }
  await put(store, tenant, { ...stored, canary })
}

/** Stores the change of the canary as the next revision, with its digest and its pins, as a promotion does. */
export async function promoteCanary(store: Store, tenant: TenantId): Promise<void> {
  const before = storedOf(store, tenant)
  const { canary, ...stored } = before
  if (canary === undefined) throw new Error('no canary to promote')
  await put(store, tenant, {
    ...stored,
    ...(canary.pins === undefined ? {} : { pins: { ...stored.pins, ...canary.pins } }),
    revision: stored.revision + 1,
    spec: canarySpec(before, canary),
    digest: canary.digest,
  })
}
