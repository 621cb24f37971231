// What the controllers would do about a deployment as it would be stored: their own decisions, one after another, on records
// that are foreseen, with agents that make every container ready. So the plan of a dry run cannot differ from what is done,
// except by what changes meanwhile. DECISIONS 1 (plan).

import type { Assignment, NodeId, TenantId } from '@holdfast/contract'
import { createPickDescriber, dependencyText, isReady, type NodeDisposition } from '@holdfast/core'
import type { PlanDeps, PlannedRollout, PlanQuestion } from '../../operations/deployments/write/plan.ts'
import { type Clock, timestamp } from '../../ports/clock.ts'
import { gatherTenantFacts, workloadOf } from '../../scheduling/scheduling-facts.ts'
import {
  deployments,
  nodes,
  observations,
  placements,
  type StoredDeployment,
  type StoredObservation,
} from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { inTenant } from '../../store/transaction.ts'
import type { PlacingDeps } from './controller.ts'
import { decidePlacement } from './decide-placement.ts'
import type { Decision } from './decision.ts'
import { isRunning } from './find-displaced.ts'
import { createOverlayStore, type OverlayStore } from './overlay-store.ts'
import { createPickReasons, type PickReasons } from './pick-reasons.ts'
import { plannedSteps, type Turn } from './planned-steps.ts'
import { createTenantView, type TenantView } from './tenant-view.ts'

export interface PlanAheadDeps extends Pick<PlacingDeps, 'quotas' | 'residency'> {
  readonly store: Pick<Store, 'get' | 'list' | 'keysOf' | 'revision'>
  readonly clock: Clock
}

interface World extends Omit<PlanAheadDeps, 'store'> {
  readonly store: OverlayStore
  readonly view: TenantView
  readonly tenant: TenantId
  readonly stored: StoredDeployment
  readonly reasons: PickReasons
}

/** A replica takes at most four looks: its successor is made, found ready, its old one told to go, and found gone. */
const turnsFor = (replicas: number): number => 20 + 4 * replicas

const UNRESOLVED = 'No registry has answered for the image yet: replicas wait for that.'

/** A tenant's plans are made one after another; whoever asks for more than these at once is not waited for. */
const MOST_WAITING = 8

export function createPlanner(deps: PlanAheadDeps): PlanDeps['planAhead'] {
  const lanes = new Map<TenantId, { last: Promise<unknown>; waiting: number }>()
  return async (tenant, question) => {
    const lane = lanes.get(tenant) ?? { last: Promise.resolve(), waiting: 0 }
    if (lane.waiting === MOST_WAITING) return undefined
    lanes.set(tenant, lane)
    lane.waiting += 1
    const made = lane.last.then(() => planAhead(deps, tenant, question))
    lane.last = made.catch(() => undefined)
    return made.finally(() => {
      lane.waiting -= 1
      if (lane.waiting === 0) lanes.delete(tenant)
    })
  }
}

/** Of work at a time; then others have their turn, since a rollout may have hundreds of decisions. */
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
  const world: World = { ...deps, store, tenant, stored, ...viewsOf(deps, store, tenant, stored) }
  const before = assignmentsOf(world)
  const readyBefore = readyNumbers(world, before)
  const turns: Turn[] = []
  const most = turnsFor(Math.max(stored.spec.replicas, before.length))
  while (turns.length < most) {
    await pause()
    const turn = takeTurn(world)
    if (turn === undefined) break
    turns.push(turn)
  }
  const nodeName = (id: NodeId) => store.get(inTenant(tenant, nodes, id))?.record.name ?? id
  const unresolved = stored.digest === null && stored.spec.replicas > 0
  const waits = unresolved ? UNRESOLVED : turns.at(-1)?.waits
  const unplaced = turns.at(-1)?.unplaced ?? 0
  return { ...plannedSteps({ stored, before, readyBefore, turns, waits, restart, nodeName }), unplaced }
}

function viewsOf(
  { quotas, residency }: PlanAheadDeps,
  store: OverlayStore,
  tenant: TenantId,
  { spec, uid }: StoredDeployment,
): Pick<World, 'view' | 'reasons'> {
  const workload = workloadOf(store, tenant, spec, residency)
  const placed = store.get(inTenant(tenant, placements, uid))?.record.assignments ?? []
  const facts = gatherTenantFacts(store, quotas, tenant)
  return {
    view: createTenantView(store, quotas, tenant),
    reasons: createPickReasons(workload, createPickDescriber(workload, facts), placed),
  }
}

function assignmentsOf({ store, tenant, stored }: World): readonly Assignment[] {
  return store.get(inTenant(tenant, placements, stored.uid))?.record.assignments ?? []
}

/** One decision, as it would be written, and what the agents then do. Undefined: there is nothing left to do. */
function takeTurn(world: World): Turn | undefined {
  const { store, tenant, stored, view, residency, clock, reasons } = world
  const before = assignmentsOf(world)
  const now = timestamp(clock)
  const decision = decidePlacement({ store, tenant, view, residency, now, listensUntil: 0 }, stored)
  if (decision.settled || decision.next === undefined) return undefined
  store.put(placements, stored.uid, decision.next)
  view.takePlacement(stored.uid)
  const after = decision.next.assignments
  const dispositions = new Map<NodeId, NodeDisposition | 'displaced'>()
  for (const { nodeId } of before)
    dispositions.set(
      nodeId,
      decision.displacement.dispositions.has(nodeId) ? 'displaced' : view.dispositionOf(nodeId),
    )
  const ready = readyNumbers(world, after)
  const turn = {
    ...{ added: reasons.of(decision), removed: toldToGo(before, after), dispositions, ready },
    ...waitsOf(decision),
  }
  for (const each of after) act(world, each, now)
  return turn
}

function toldToGo(before: readonly Assignment[], after: readonly Assignment[]): Assignment[] {
  const kept = new Set(after.filter(isRunning).map(({ id }) => id))
  return before.filter((each) => isRunning(each) && !kept.has(each.id))
}

function readyNumbers({ store, tenant }: World, assignments: readonly Assignment[]): ReadonlySet<number> {
  const seen = (id: string) => store.get(inTenant(tenant, observations, id))?.record
  const serving = assignments.filter((each) => isRunning(each) && isReady(seen(each.id)))
  return new Set(serving.map(({ replica }) => replica))
}

function waitsOf({ refused, unmet, plan, added }: Decision): Pick<Turn, 'waits' | 'unplaced'> {
  if (unmet.length > 0) return { waits: dependencyText(unmet), unplaced: 0 }
  if (refused === undefined) return { waits: undefined, unplaced: 0 }
  const numbers = [...new Set(plan.missing.slice(added.length).map(({ replica }) => replica))]
  const who =
    numbers.length > 0
      ? `Without a node: replica ${numbers.join(', ')}.`
      : 'No other node takes what should move.'
  // What stays where it should not be, until another node takes it, asks for one all the same.
  return { waits: `${who} ${refused.summary}`, unplaced: Math.max(1, numbers.length) }
}

/** An agent that answers has what is wished ready at once, and what is not, gone. */
function act({ store, tenant, stored }: World, { id, nodeId, desired }: Assignment, now: string): void {
  if (store.get(inTenant(tenant, nodes, nodeId))?.record.status !== 'ready') return
  const gone = desired !== 'running'
  const known = store.get(inTenant(tenant, observations, id))?.record
  if (known?.gone === gone && (gone || isReady(known))) return
  const seen: StoredObservation = {
    ...{ v: 1, assignmentId: id, deployment: stored.uid, nodeId, at: now, generation: 1, seq: 1 },
    ...{ state: gone ? 'stopped' : 'ready', containerId: null, startedAt: now, exitCode: null },
    ...{ restarts: 0, reason: '', gone },
  }
  store.put(observations, id, seen)
}
