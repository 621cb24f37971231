// Tests that the plan of a large deployment can be written in one transaction: the transaction stays within etcd's limits
// and still compares the records from which the plan was made.

import type { DeploymentSpec } from '@holdfast/contract'
import { expect, test } from 'vitest'
import type { Controller } from '../controller.ts'
import { aRollout, NOW, tenant } from '../planning/cached-cluster.fixture.ts'
import { createDelayedQueue } from '../queue/delayed-queue.ts'
import { planAndReserve } from './placement-snapshot.ts'
import { reconcileDeployment } from './reconcile-deployment.ts'
import { createTenantView } from './tenant-view.ts'

const MOST = 120
/** Number of replicas, greater than the number of compares that one transaction allows. */
const MANY = 130

function decide({ deps, next }: ReturnType<typeof aRollout>) {
  const { store, quotas, residency } = deps
  const view = createTenantView(store, quotas, tenant)
  return planAndReserve({ store, tenant, view, residency, graceUntil: 0 }, next, Date.parse(NOW))
}

const inFrance: DeploymentSpec['placement'] = { residency: { country: 'FR' } }
const onSsd: DeploymentSpec['placement'] = {
  constraints: [{ label: 'disk', operator: 'in', values: ['ssd'] }],
}

test('surplus replicas are removed without comparing their nodes', () => {
  const decision = decide(aRollout(MANY, MANY, { replicas: 0, placement: inFrance }))
  expect(decision.kept.every(({ desired }) => desired === 'removed')).toBe(true)
  expect(decision.nodesToCompare.size).toBe(0)
})

test('barred replicas are stopped in batches, each with its node compared', () => {
  const { kept, nodesToCompare: nodeIds } = decide(aRollout(MANY, MANY, { placement: inFrance }))
  const going = kept.filter(({ desired }) => desired === 'removed').map(({ nodeId }) => nodeId)
  expect(going).toHaveLength(25)
  expect(nodeIds).toEqual(new Set(going))
})

test('stranded replicas are reported for some nodes, and the matrix names all', () => {
  const decision = decide(aRollout(MANY, MANY, { placement: onSsd }))
  const within = decision.events()
  expect(within.filter(({ type }) => type === 'deployment.displaced')).toHaveLength(25)
  expect(decision.refused?.candidates).toHaveLength(MANY)
  expect(within.length + decision.nodesToCompare.size).toBeLessThan(MOST)
})

test('replicas that are removed because they were never ready are compared with their observations', () => {
  const { nodesToCompare: nodeIds, observationsToCompare: seenIds } = decide(
    aRollout(2, 2, {}, { state: 'starting' }),
  )
  expect([nodeIds.size, seenIds]).toEqual([2, ['asg_0', 'asg_1']])
  const many = decide(aRollout(MANY, MANY, {}, { state: 'starting' }))
  expect(many.kept.every(({ desired }) => desired === 'removed')).toBe(true)
  expect(many.nodesToCompare.size + many.observationsToCompare.length).toBe(110)
})

test('assignments that are confirmed gone are dropped in batches', () => {
  const decision = decide(aRollout(MANY, 5, { replicas: 0 }, { gone: true, state: 'stopped' }))
  expect(decision.rollout.dropped).toHaveLength(80)
  expect(decision.kept).toHaveLength(MANY - 80)
  expect(decision.isSettled).toBe(false)
})

test('a plan is compared at once, before anything else runs', async () => {
  const { deps, next } = aRollout(1, 2)
  const view = createTenantView(deps.store, deps.quotas, tenant)
  let isCompared = false
  const fenced = async () => {
    isCompared = true
    throw new Error('enough was seen')
  }
  const none = { forget: () => undefined, wait: () => undefined }
  const known = { view, waiting: none, dependents: none, observed: none, graceUntil: 0 }
  const controller = {
    deps: { ...deps, leadership: { owns: () => true, fenced } },
    tenants: new Map([[tenant, known]]),
    queue: { add: () => undefined },
    due: createDelayedQueue(),
  }
  const looked = reconcileDeployment(controller as unknown as Controller, {
    kind: 'deployment',
    tenant,
    name: next.spec.name,
  })
  expect(isCompared).toBe(true)
  await expect(looked).rejects.toThrow('enough was seen')
})
