// Reconciles one deployment: makes a plan from the cache and, if the plan changes anything, writes it in one fenced
// transaction that compares every record that the plan relies on. See docs/design/leadership.md#fencing

import { type NodeId, type Owner, ownerOf, type TenantId } from '@holdfast/contract'
import { desiredReplicas, isActiveCanary } from '@holdfast/core'
import {
  avoiding,
  type PlacementEvent,
  type PlacementPlan,
  prepareExplanation,
} from '@holdfast/core/placement'
import { inSlices } from '../../../lib/slices.ts'
import { claimedSpec } from '../../../operations/deployments/canary/end-canary.ts'
import { recordEvent } from '../../../operations/record-write.ts'
import { claimCredentials } from '../../../operations/secrets/versions/claim-credentials.ts'
import { drainsThatWait } from '../../../operations/volumes/volume-group.ts'
import { canarySpec } from '../../../scheduling/canary-spec.ts'
import { workloadOf } from '../../../scheduling/scheduling-facts.ts'
import { deployments, nodes, observations, type StoredDeployment } from '../../../store/records.ts'
import { getOr, inTenant, placementAt, type Transaction } from '../../../store/transaction.ts'
import { LostLeadershipError } from '../../leadership/fence.ts'
import { type Controller, type KnownTenant, tenantOf } from '../controller.ts'
import { type Work, workKey } from '../queue/work-key.ts'
import { changeClaims } from './change-claims.ts'
import { planAndReserve } from './placement-snapshot.ts'
import { recordDecision } from './record-decision.ts'
import { MANY_NODES } from './tenant-view.ts'

type DeploymentWork = Extract<Work, { kind: 'deployment' }>

export async function reconcileDeployment(controller: Controller, work: DeploymentWork): Promise<void> {
  const { leadership, store } = controller.deps
  const { tenant, name } = work
  const preparation = findPreparation(controller, work)
  if (preparation !== undefined) await inSlices(preparation)
  if (!leadership.owns(tenant)) return
  const stored = store.get(inTenant(tenant, deployments, name))?.record
  if (stored === undefined) return
  const plan = planNow(controller, tenantOf(controller, tenant), tenant, stored)
  if (plan === undefined) return
  try {
    await write(controller, tenant, plan)
  } catch (error) {
    controller.tenants.get(tenant)?.view.release(ownerOf('deployment', plan.deployment.uid))
    // LostLeadershipError is ignored, because the process that owns the shard now plans the deployment.
    if (!(error instanceof LostLeadershipError)) throw error
  }
}

/** The most replicas that are placed to find out whether they fit. */
const MOST_MISSING = 100

/**
 * The steps that compute the explanation before the plan is made, if the tenant has many nodes and replicas are missing.
 * Explaining thousands of nodes in one step would delay every other request.
 */
function findPreparation(
  { deps: { store, residency, leadership, clock }, tenants }: Controller,
  { tenant, name }: DeploymentWork,
): Generator<undefined, void> | undefined {
  const view = tenants.get(tenant)?.view
  const stored = store.get(inTenant(tenant, deployments, name))?.record
  if (view === undefined || view.size < MANY_NODES || stored === undefined) return undefined
  const placement = store.get(placementAt(tenant, ownerOf('deployment', stored.uid)))?.record
  const running = placement?.assignments.filter(({ desired }) => desired === 'running') ?? []
  const missing = Math.min(MOST_MISSING, desiredReplicas(stored) - running.length)
  if (missing <= 0 || stored.deleting || !leadership.owns(tenant)) return undefined
  const workload = workloadOf(store, tenant, stored.spec, residency)
  return prepareExplanation(view.scheduling, avoiding(workload, placement?.avoided, clock.now()), missing)
}

/** Plans the deployment from the cache; undefined if the plan changes nothing. */
export function planNow(
  { deps: { store, clock, residency }, due }: Controller,
  { view, waiting, dependents, graceUntil }: KnownTenant,
  tenant: TenantId,
  stored: StoredDeployment,
): PlacementPlan | undefined {
  const { name } = stored.spec
  const plan = planAndReserve({ store, tenant, view, residency, graceUntil }, stored, clock.now())
  const key = workKey({ kind: 'deployment', tenant, name })
  if (plan.cures.length === 0) waiting.forget(key)
  else waiting.wait(key, plan.cures, hasAffinity(stored))
  const others = plan.awaited.map((each) => each.name)
  if (others.length === 0) dependents.forget(key)
  else dependents.wait(key, others)
  due.note(key, plan.rollout.replanAt)
  return plan.isSettled ? undefined : plan
}

/** Whether a replica of the deployment or of its canary may run only beside another deployment. */
function hasAffinity(stored: StoredDeployment): boolean {
  const { spec, canary } = stored
  const specs = canary === undefined ? [spec] : [spec, canarySpec(stored, canary)]
  return specs.some(({ placement }) => placement?.affinity !== undefined)
}

/** Writes the plan. If a compare fails, the transaction runs again and plans from the newer records. */
async function write(controller: Controller, tenant: TenantId, first: PlacementPlan): Promise<void> {
  const { leadership } = controller.deps
  const { uid, spec } = first.deployment
  const owner = ownerOf('deployment', uid)
  // Nothing is awaited before the transaction, so the cache has not changed, and the transaction writes the first plan.
  let planned: PlacementPlan | undefined = first
  await leadership.fenced<void>(tenant, (transaction) => {
    const stored = transaction.get(inTenant(tenant, deployments, spec.name))
    transaction.get(placementAt(tenant, owner))
    const isOver = stored?.uid !== uid
    // The shard may have been lost and regained while the commit was retried. The former state of the tenant is then no
    // longer updated, so each plan uses the current one.
    const plan = planned ?? (stored && planNow(controller, tenantOf(controller, tenant), tenant, stored))
    planned = undefined
    if (isOver) releaseReservation(controller, tenant, owner)
    if (plan === undefined || isOver) return { kind: 'abort', result: undefined }
    recordDecision(transaction, tenant, plan)
    stage(controller, transaction, tenant, plan)
    return { kind: 'commit', result: undefined }
  })
}

/** Releases the reservation of a plan that is not written, and requeues the work that waits for capacity. */
function releaseReservation({ queue, tenants }: Controller, tenant: TenantId, owner: Owner): void {
  const known = tenants.get(tenant)
  known?.view.release(owner)
  for (const key of known?.waiting.curedBy('placements') ?? []) queue.add(key)
}

function stage({ deps }: Controller, transaction: Transaction, tenant: TenantId, plan: PlacementPlan): void {
  for (const id of plan.nodesToCompare) compareNode(transaction, tenant, id)
  // An unreadable observation is not compared, because the plan treats it as absent and it must not block the write.
  for (const id of plan.observationsToCompare)
    getOr(transaction, inTenant(tenant, observations, id), undefined)
  const owner = ownerOf('deployment', plan.deployment.uid)
  changeClaims(transaction, tenant, owner, plan.claims)
  const address = placementAt(tenant, owner)
  if (plan.next === undefined) transaction.delete(address)
  else transaction.put(address, { v: 1, ...plan.next })
  advanceStored(transaction, tenant, plan)
  for (const { id } of plan.rollout.dropped) transaction.delete(inTenant(tenant, observations, id))
  const decidedAt = { now: () => Date.parse(plan.now) }
  for (const [place, event] of plan.events().entries())
    recordEvent(transaction, decidedAt, tenant, { place, ...withDrains(deps, tenant, plan, event) })
}

/** Stores the next state of the canary. A canary that has failed no longer uses the secrets that only it named. */
function advanceStored(
  transaction: Transaction,
  tenant: TenantId,
  { deployment, canary }: PlacementPlan,
): void {
  if (canary === undefined || canary === deployment.canary) return
  const address = inTenant(tenant, deployments, deployment.spec.name)
  const stored = transaction.get(address)
  if (stored?.canary === undefined) return
  transaction.put(address, { ...stored, canary: { ...stored.canary, ...canary } })
  if (!isActiveCanary(canary)) claimCredentials(transaction, tenant, claimedSpec(stored), stored.spec, [])
}

/** Adds to the event of a stalled deployment which volumes keep a drain from emptying its node. */
function withDrains(
  { store, residency, clock }: Controller['deps'],
  tenant: TenantId,
  { deployment }: PlacementPlan,
  event: PlacementEvent,
): PlacementEvent {
  if (event.type !== 'deployment.stalled') return event
  const waits = drainsThatWait({ store, residency, now: clock.now() }, tenant, deployment)
  const message = `${event.message} The drain waits: ${waits.join('; ')}.`
  return waits.length === 0 ? event : { ...event, message }
}

/** Makes the transaction compare a node's record: a missing node must stay missing, and a chosen node unchanged. */
function compareNode(transaction: Transaction, tenant: TenantId, id: NodeId): void {
  transaction.get(inTenant(tenant, nodes, id))
}
