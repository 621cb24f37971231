// What the controllers would do about a deployment as it would be stored: their own decisions, one after another, on records
// that are foreseen, with agents that make every container ready. So the plan of a dry run cannot differ from what is done,
// except by what changes meanwhile. DECISIONS 1 (plan).

import type { Assignment, NodeId, TenantId } from '@holdfast/contract'
import {
  dependencyText,
  describePick,
  isReady,
  type NodeStance,
  type TenantFacts,
  type Workload,
} from '@holdfast/core'
import type { Foreseen } from '../../operations/deployments/plan.ts'
import { gatherTenantFacts, workloadOf } from '../../operations/scheduling-facts.ts'
import { type Clock, timestamp } from '../../ports/clock.ts'
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
import { foreseenSteps, type Turn } from './foreseen-steps.ts'
import { createForeseenStore, type ForeseenStore } from './foreseen-store.ts'
import { createTenantView, type TenantView } from './tenant-view.ts'

export interface ForeseeDeps extends Pick<PlacingDeps, 'quotas' | 'residency'> {
  readonly store: Pick<Store, 'get' | 'list' | 'keysOf' | 'revision'>
  readonly clock: Clock
}

interface World extends Omit<ForeseeDeps, 'store'> {
  readonly store: ForeseenStore
  readonly view: TenantView
  readonly tenant: TenantId
  readonly stored: StoredDeployment
}

/** A replica takes at most four looks: its successor is made, found ready, its old one told to go, and found gone. */
const turnsFor = (replicas: number): number => 20 + 4 * replicas

const UNRESOLVED = 'No registry has answered for the image yet: replicas wait for that.'

/** `restart`: that is all that was asked for. */
export function foresee(
  deps: ForeseeDeps,
  tenant: TenantId,
  stored: StoredDeployment,
  restart: boolean,
): Foreseen {
  const store = createForeseenStore(deps.store)
  store.put(tenant, deployments, stored.spec.name, stored)
  const world: World = { ...deps, store, tenant, stored, view: createTenantView(store, deps.quotas, tenant) }
  const before = assignmentsOf(world)
  const readyBefore = readyNumbers(world, before)
  const turns: Turn[] = []
  const most = turnsFor(Math.max(stored.spec.replicas, before.length))
  while (turns.length < most) {
    const turn = takeTurn(world)
    if (turn === undefined) break
    turns.push(turn)
  }
  const nodeName = (id: NodeId) => store.get(inTenant(tenant, nodes, id))?.record.name ?? id
  const unresolved = stored.digest === null && stored.spec.replicas > 0
  const waits = unresolved ? UNRESOLVED : turns.at(-1)?.waits
  return foreseenSteps({ stored, before, readyBefore, turns, waits, restart, nodeName })
}

function assignmentsOf({ store, tenant, stored }: World): readonly Assignment[] {
  return store.get(inTenant(tenant, placements, stored.uid))?.record.assignments ?? []
}

/** One decision, as it would be written, and what the agents then do. Undefined: there is nothing left to do. */
function takeTurn(world: World): Turn | undefined {
  const { store, tenant, stored, view, residency, clock, quotas } = world
  const before = assignmentsOf(world)
  const facts = gatherTenantFacts(store, quotas, tenant)
  const now = timestamp(clock)
  const decision = decidePlacement({ store, tenant, view, residency, now, listensUntil: 0 }, stored)
  if (decision.settled || decision.next === undefined) return undefined
  store.put(tenant, placements, stored.uid, decision.next)
  view.takePlacement(stored.uid)
  const after = decision.next.assignments
  const stances = new Map<NodeId, NodeStance | 'displaced'>()
  for (const { nodeId } of before)
    stances.set(nodeId, decision.displacement.stances.has(nodeId) ? 'displaced' : view.stanceOf(nodeId))
  const ready = readyNumbers(world, after)
  const workload = workloadOf(store, tenant, stored.spec, residency)
  const turn = {
    ...{ added: picked(decision, workload, facts), removed: toldToGo(before, after), stances, ready },
    waits: waitsOf(decision),
  }
  for (const each of after) act(world, each, now)
  return turn
}

const isRunning = ({ desired }: Assignment): boolean => desired === 'running'

function toldToGo(before: readonly Assignment[], after: readonly Assignment[]): Assignment[] {
  const kept = new Set(after.filter(isRunning).map(({ id }) => id))
  return before.filter((each) => isRunning(each) && !kept.has(each.id))
}

function readyNumbers({ store, tenant }: World, assignments: readonly Assignment[]): ReadonlySet<number> {
  const seen = (id: string) => store.get(inTenant(tenant, observations, id))?.record
  const serving = assignments.filter((each) => isRunning(each) && isReady(seen(each.id)))
  return new Set(serving.map(({ replica }) => replica))
}

function waitsOf({ refused, unmet, plan, added }: Decision): string | undefined {
  if (unmet.length > 0) return dependencyText(unmet)
  if (refused === undefined) return undefined
  const numbers = plan.missing.slice(added.length).map(({ replica }) => replica)
  return `Without a node: replica ${[...new Set(numbers)].join(', ')}. ${refused.summary}`
}

/** Each with what spoke for its node when it was chosen: those before it count, those that it replaces do not. */
function picked({ added, kept, plan }: Decision, workload: Workload, facts: TenantFacts): Turn['added'] {
  const numbers = new Set(plan.missing.map(({ replica }) => replica))
  const going = kept.filter((each) => !isRunning(each) || numbers.has(each.replica))
  const counted = new Map<NodeId, number>()
  const count = (nodeId: NodeId, by: number) => counted.set(nodeId, (counted.get(nodeId) ?? 0) + by)
  for (const { nodeId } of going) count(nodeId, -1)
  return added.map((assignment) => {
    const why = describePick(workload, withCounted(facts, workload, counted), assignment.nodeId)
    count(assignment.nodeId, 1)
    return { assignment, why }
  })
}

function withCounted(
  facts: TenantFacts,
  { name }: Workload,
  counted: ReadonlyMap<NodeId, number>,
): TenantFacts {
  return {
    ...facts,
    nodes: facts.nodes.map((node) => {
      const by = counted.get(node.id) ?? 0
      if (by === 0) return node
      const replicas = new Map(node.replicas)
      const own = (replicas.get(name) ?? 0) + by
      if (own > 0) replicas.set(name, own)
      else replicas.delete(name)
      return { ...node, replicas }
    }),
  }
}

/** An agent that answers has what is wished ready at once, and what is not, gone. */
function act({ store, tenant, stored }: World, { id, nodeId, desired }: Assignment, now: string): void {
  if (store.get(inTenant(tenant, nodes, nodeId))?.record.status !== 'ready') return
  const gone = desired !== 'running'
  const seen: StoredObservation = {
    ...{ v: 1, assignmentId: id, deployment: stored.uid, nodeId, at: now, generation: 1, seq: 1 },
    ...{ state: gone ? 'stopped' : 'ready', containerId: null, startedAt: now, exitCode: null },
    ...{ restarts: 0, reason: '', gone },
  }
  store.put(tenant, observations, id, seen)
}
