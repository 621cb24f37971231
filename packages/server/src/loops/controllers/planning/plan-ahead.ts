// The plan of a dry run: the decisions that the controllers would make about a deployment, one after another. They are
// applied to an overlay of the stored records, and simulated agents make every container ready at once. The code is that
// of the controllers, so the real rollout differs only if records change. See docs/design/rollouts.md#dry-run-plans

import { type Assignment, type NodeId, type Owner, ownerOf, type TenantId } from '@holdfast/contract'
import { dependencyText, isReady, type NodeDisposition } from '@holdfast/core'
import {
  createPickDescriber,
  createPickReasons,
  isRunning,
  type PickReasons,
  type PlacementPlan,
  type PlannedTurn,
  plannedSteps,
} from '@holdfast/core/placement'
import type { PlanDeps, PlannedRollout, PlanQuestion } from '../../../operations/deployments/write/plan.ts'
import { type Clock, timestamp } from '../../../ports/clock.ts'
import { gatherTenantFacts, workloadOf } from '../../../scheduling/scheduling-facts.ts'
import {
  deployments,
  nodes,
  observations,
  placements,
  type StoredDeployment,
  type StoredObservation,
} from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { inTenant, placementAt } from '../../../store/transaction.ts'
import type { PlacingDeps } from '../controller.ts'
import { planAndReserve } from '../placement/placement-snapshot.ts'
import { createTenantView, type TenantView } from '../placement/tenant-view.ts'
import { createOverlayStore, type OverlayStore } from './overlay-store.ts'

export interface PlanAheadDeps extends Pick<PlacingDeps, 'quotas' | 'residency'> {
  readonly store: Pick<Store, 'get' | 'list' | 'keysOf' | 'revision'>
  readonly clock: Clock
}

interface DryRun extends Omit<PlanAheadDeps, 'store'> {
  readonly store: OverlayStore
  readonly view: TenantView
  readonly tenant: TenantId
  readonly stored: StoredDeployment
  readonly owner: Owner
  readonly reasons: PickReasons
}

/** Limit of decisions in a dry run. A replica needs at most 4: create the new, see it ready, stop the old, see it end. */
const mostTurns = (replicas: number): number => 20 + 4 * replicas

const UNRESOLVED = 'No registry has resolved the image yet: replicas wait for that.'

/** Limit of dry runs that wait, per tenant. A tenant's dry runs run one after another; more requests are rejected. */
const MOST_WAITING = 8

export function createPlanner(deps: PlanAheadDeps): PlanDeps['planAhead'] {
  const lanes = new Map<TenantId, { last: Promise<unknown>; waiting: number }>()
  return async (tenant, question) => {
    const lane = lanes.get(tenant) ?? { last: Promise.resolve(), waiting: 0 }
    if (lane.waiting === MOST_WAITING) return undefined
    lanes.set(tenant, lane)
    lane.waiting += 1
    const planned = lane.last.then(() => planAhead(deps, tenant, question))
    // The caller receives the error of a failed plan; the tenant's next dry run starts regardless.
    lane.last = planned.catch(() => undefined)
    return planned.finally(() => {
      lane.waiting -= 1
      if (lane.waiting === 0) lanes.delete(tenant)
    })
  }
}

/** Maximum time that a dry run computes without a pause for other work: a rollout may need hundreds of decisions. */
const SLICE_MS = 8

function createPauses(): () => Promise<void> {
  let since = performance.now()
  return async () => {
    if (performance.now() - since < SLICE_MS) return
    await new Promise((resolve) => setImmediate(resolve))
    since = performance.now()
  }
}

export async function planAhead(
  deps: PlanAheadDeps,
  tenant: TenantId,
  { next: stored, restart }: Pick<PlanQuestion, 'next' | 'restart'>,
): Promise<PlannedRollout> {
  const pause = createPauses()
  const store = createOverlayStore(deps.store, tenant)
  store.put(deployments, stored.spec.name, stored)
  const owner = ownerOf('deployment', stored.uid)
  const run: DryRun = { ...deps, store, tenant, stored, owner, ...createViews(deps, store, tenant, stored) }
  const before = assignmentsOf(run)
  const readyBefore = readyNumbers(run, before)
  const turns: PlannedTurn[] = []
  const most = mostTurns(Math.max(stored.spec.replicas, before.length))
  while (turns.length < most) {
    await pause()
    const turn = runTurn(run)
    if (turn === undefined) break
    turns.push(turn)
  }
  const nodeName = (id: NodeId) => store.get(inTenant(tenant, nodes, id))?.record.name ?? id
  const isUnresolved = stored.digest === null && stored.spec.replicas > 0
  const waits = isUnresolved ? UNRESOLVED : turns.at(-1)?.waits
  const steps = plannedSteps({ deployment: stored, before, readyBefore, turns, waits, restart, nodeName })
  return { ...steps, unplaced: turns.at(-1)?.unplaced ?? 0 }
}

function createViews(
  { quotas, residency }: PlanAheadDeps,
  store: OverlayStore,
  tenant: TenantId,
  { spec, uid }: StoredDeployment,
): Pick<DryRun, 'view' | 'reasons'> {
  const workload = workloadOf(store, tenant, spec, residency)
  const placed = store.get(placementAt(tenant, ownerOf('deployment', uid)))?.record.assignments ?? []
  const facts = gatherTenantFacts(store, quotas, tenant)
  return {
    view: createTenantView(store, quotas, tenant),
    reasons: createPickReasons(workload, createPickDescriber(workload, facts), placed),
  }
}

function assignmentsOf({ store, tenant, owner }: DryRun): readonly Assignment[] {
  return store.get(placementAt(tenant, owner))?.record.assignments ?? []
}

/** Makes one decision, applies it to the overlay and simulates the agents. Undefined once the deployment is settled. */
function runTurn(run: DryRun): PlannedTurn | undefined {
  const { store, tenant, stored, owner, view, residency, clock, reasons } = run
  const before = assignmentsOf(run)
  const plan = planAndReserve({ store, tenant, view, residency, graceUntil: 0 }, stored, clock.now())
  if (plan.isSettled || plan.next === undefined) return undefined
  store.put(placements, owner, { v: 1, ...plan.next })
  view.applyPlacement(owner)
  const after = plan.next.assignments
  const dispositions = new Map<NodeId, NodeDisposition | 'displaced'>()
  for (const { nodeId } of before)
    dispositions.set(
      nodeId,
      plan.displacement.dispositions.has(nodeId) ? 'displaced' : view.dispositionOf(nodeId),
    )
  const ready = readyNumbers(run, after)
  const added = reasons.of(plan)
  const turn = { added, removed: stoppedBetween(before, after), dispositions, ready, ...waitsOf(plan) }
  const now = timestamp(clock)
  for (const each of after) act(run, each, now)
  return turn
}

function stoppedBetween(before: readonly Assignment[], after: readonly Assignment[]): Assignment[] {
  const running = new Set(after.filter(isRunning).map(({ id }) => id))
  return before.filter((each) => isRunning(each) && !running.has(each.id))
}

function readyNumbers({ store, tenant }: DryRun, assignments: readonly Assignment[]): ReadonlySet<number> {
  const seen = (id: string) => store.get(inTenant(tenant, observations, id))?.record
  const serving = assignments.filter((each) => isRunning(each) && isReady(seen(each.id)))
  return new Set(serving.map(({ replica }) => replica))
}

function waitsOf({ refused, unmet, rollout, added }: PlacementPlan): Pick<PlannedTurn, 'waits' | 'unplaced'> {
  if (unmet.length > 0) return { waits: dependencyText(unmet), unplaced: 0 }
  if (refused === undefined) return { waits: undefined, unplaced: 0 }
  const numbers = [...new Set(rollout.missing.slice(added.length).map(({ replica }) => replica))]
  const which =
    numbers.length > 0
      ? `Without a node: replica ${numbers.join(', ')}.`
      : 'No other node accepts the replica that should move.'
  // `unplaced` is at least 1, because a replica that should move to another node also lacks a node.
  return { waits: `${which} ${refused.summary}`, unplaced: Math.max(1, numbers.length) }
}

/** Simulates an agent: on a ready node, desired containers are ready at once and all others are gone. */
function act({ store, tenant, owner }: DryRun, { id, nodeId, desired }: Assignment, now: string): void {
  if (store.get(inTenant(tenant, nodes, nodeId))?.record.status !== 'ready') return
  const gone = desired !== 'running'
  const known = store.get(inTenant(tenant, observations, id))?.record
  if (known?.gone === gone && (gone || isReady(known))) return
  const seen: StoredObservation = {
    v: 1,
    assignmentId: id,
    owner,
    nodeId,
    at: now,
    generation: 1,
    seq: 1,
    state: gone ? 'stopped' : 'ready',
    containerId: null,
    startedAt: now,
    exitCode: null,
    restarts: 0,
    reason: '',
    gone,
  }
  store.put(observations, id, seen)
}
