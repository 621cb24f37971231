// A decision is one transaction: whatever is decided at once, it stays within what a transaction can hold (SAFETY 4a), and what
// it was decided on is what it compares.

import type { DeploymentSpec } from '@holdfast/contract'
import { expect, test } from 'vitest'
import type { Controller } from '../controller.ts'
import { keyOf } from '../controller.ts'
import { aRollout, NOW, tenant } from '../planning/cached-cluster.fixture.ts'
import { createDelayedQueue } from '../queue/delayed-queue.ts'
import { planAndReserve } from './placement-snapshot.ts'
import { reconcileDeployment } from './reconcile-deployment.ts'
import { createTenantView } from './tenant-view.ts'

const MOST = 120
/** More than a transaction holds: a rollout that was on its way. */
const MANY = 130

function decide({ deps, next }: ReturnType<typeof aRollout>) {
  const { store, quotas, residency } = deps
  const view = createTenantView(store, quotas, tenant)
  return planAndReserve({ store, tenant, view, residency, listensUntil: 0 }, next, Date.parse(NOW))
}

const inFrance: DeploymentSpec['placement'] = { residency: { country: 'FR' } }
const onSsd: DeploymentSpec['placement'] = {
  constraints: [{ label: 'disk', operator: 'in', values: ['ssd'] }],
}

test('what is not wished any more goes, whatever its node is: no node is compared for it', () => {
  const decision = decide(aRollout(MANY, MANY, { replicas: 0, placement: inFrance }))
  expect(decision.kept.every(({ desired }) => desired === 'removed')).toBe(true)
  expect(decision.nodesToCompare.size).toBe(0)
})

test('what must go from where it may not be goes in parts, each with its node compared', () => {
  const { kept, nodesToCompare: nodeIds } = decide(aRollout(MANY, MANY, { placement: inFrance }))
  const going = kept.filter(({ desired }) => desired === 'removed').map(({ nodeId }) => nodeId)
  expect(going).toHaveLength(25)
  expect(nodeIds).toEqual(new Set(going))
})

test('what stays where a constraint does not want it is told of some nodes: the matrix names all', () => {
  const decision = decide(aRollout(MANY, MANY, { placement: onSsd }))
  const { within } = decision.events()
  expect(within.filter(({ type }) => type === 'deployment.displaced')).toHaveLength(25)
  expect(decision.refused?.candidates).toHaveLength(MANY)
  expect(within.length + decision.nodesToCompare.size).toBeLessThan(MOST)
})

test('what goes because it was never ready is compared as it was seen, as far as a transaction holds it', () => {
  const { nodesToCompare: nodeIds, observationsToCompare: seenIds } = decide(
    aRollout(2, 2, {}, { state: 'starting' }),
  )
  expect([nodeIds.size, seenIds]).toEqual([2, ['asg_0', 'asg_1']])
  const many = decide(aRollout(MANY, MANY, {}, { state: 'starting' }))
  expect(many.kept.every(({ desired }) => desired === 'removed')).toBe(true)
  expect(many.nodesToCompare.size + many.observationsToCompare.length).toBe(110)
})

test('what is confirmed gone is dropped in parts', () => {
  const decision = decide(aRollout(MANY, 5, { replicas: 0 }, { gone: true, state: 'stopped' }))
  expect(decision.rollout.dropped).toHaveLength(80)
  expect(decision.kept).toHaveLength(MANY - 80)
  expect(decision.isSettled).toBe(false)
})

test('what was decided is compared at once: nothing comes in between', async () => {
  const { deps, next } = aRollout(1, 2)
  const view = createTenantView(deps.store, deps.quotas, tenant)
  let isCompared = false
  const fenced = async () => {
    isCompared = true
    throw new Error('enough was seen')
  }
  const none = { forget: () => undefined, wait: () => undefined }
  const known = { view, waiting: none, dependents: none, sightings: none, listensUntil: 0 }
  const controller = {
    deps: { ...deps, leadership: { owns: () => true, fenced } },
    ...{ tenants: new Map([[tenant, known]]), queue: { add: () => undefined }, due: createDelayedQueue() },
  }
  const looked = reconcileDeployment(controller as unknown as Controller, keyOf(tenant, next.spec.name))
  expect(isCompared).toBe(true)
  await expect(looked).rejects.toThrow('enough was seen')
})
