// Tests what a plan waits for: the changes after which the deployment is planned again.

import { expect, test } from 'vitest'
import { done } from '../../../operations/caller.ts'
import { aCanary } from '../../../store/records.fixture.ts'
import { deployments } from '../../../store/records.ts'
import { inTenant } from '../../../store/transaction.ts'
import type { Controller } from '../controller.ts'
import { aRollout, tenant } from '../planning/cached-cluster.fixture.ts'
import { createRunDry } from '../planning/run-dry.ts'
import { createDelayedQueue } from '../queue/delayed-queue.ts'
import { createDependents } from '../queue/dependents.ts'
import { createObservationDedup } from '../queue/observation-dedup.ts'
import { createWaitingList } from '../queue/waiting-list.ts'
import { planNow } from './reconcile-deployment.ts'
import { createTenantView } from './tenant-view.ts'

test('a canary with affinity is planned again when another deployment gets replicas', async () => {
  const { deps, next } = aRollout(1, 1)
  const change = { placement: { affinity: ['db'] } }
  const canary = aCanary(change, { phase: 'progressing', digest: next.digest })
  const address = inTenant(tenant, deployments, 'web')
  // The dry run carries out the rollout, so that the deployment itself waits for nothing.
  const outcome = await createRunDry(deps)(tenant, deps.store, (store) =>
    store.transact((transaction) => {
      transaction.put(address, { ...next, canary })
      return { kind: 'commit' as const, result: done(undefined) }
    }),
  )
  if (!outcome.ok) throw new Error('the canary is rejected')
  const { after: store } = outcome.value
  const stored = store.get(address)?.record
  if (stored === undefined) throw new Error('the deployment is gone')
  expect(stored.canary?.reason).toBe('unschedulable')
  const waiting = createWaitingList()
  const known = {
    view: createTenantView(store, deps.quotas, tenant),
    waiting,
    dependents: createDependents(),
    observed: createObservationDedup(),
    graceUntil: 0,
  }
  const controller = { deps: { ...deps, store }, due: createDelayedQueue() }
  planNow(controller as unknown as Controller, known, tenant, stored)
  expect(waiting.curedByGrowth()).toHaveLength(1)
})
