// One decision about one deployment: what its placement record should be, from the records as the cache shows them. Nothing
// is written here; the room that the decision takes is reserved in the tenant's view. DESIGN 4, DECISIONS 4 and 5.

import type { Assignment, AssignmentId, NodeId, Refusal } from '@holdfast/contract'
import {
  DEPENDENCY_UNHEALTHY,
  explainCandidates,
  giveUpLost,
  isHeard,
  isServing,
  isUnchanged,
  leaveForbidden,
  mayStayForNow,
  type Placing,
  planRollout,
  type ReplicaFacts,
  type RolloutPlan,
  updateRulesOf,
  type Whereabouts,
  type Workload,
} from '@holdfast/core'
import { workloadOf } from '../../scheduling/scheduling-facts.ts'
import { observations, placements, type StoredDeployment, type StoredPlacement } from '../../store/records.ts'
import { inTenant } from '../../store/transaction.ts'
import { assignmentId } from './assignment-id.ts'
import type { DecideDeps, Decision } from './decision.ts'
import { dependenciesOf, desiredCount, desiredOf, replicaFacts } from './desired-deployment.ts'
import { DISPLACED_AT_ONCE, type Displacement, findDisplaced } from './find-displaced.ts'
import { ignoreOutgoing } from './ignore-outgoing.ts'
import { keepServing } from './keep-serving.ts'
import { nextPlacement, sameStory } from './next-placement.ts'
import { stopForSelfAntiAffinity } from './stop-for-self-anti-affinity.ts'

/** A transaction compares each node that it decides on, and holds 120 compares at the most (SAFETY 4a). */
const NODES_AT_ONCE = 100
/** Nodes, and what was seen of replicas; what is left is for the records of the deployment and for the fence. */
const COMPARED_AT_ONCE = 110

export function decidePlacement(deps: DecideDeps, stored: StoredDeployment): Decision {
  const { store, tenant, view, now } = deps
  const found = store.get(inTenant(tenant, placements, stored.uid))
  const before = found?.record
  const decidedOn = found?.modRevision ?? 0
  const assignments = before?.assignments ?? []
  const gates = dependenciesOf(store, tenant, stored)
  const placed = { ...before, assignments, listensUntil: deps.listensUntil, waited: hasWaited(before) }
  const workload = workloadOf(store, tenant, stored.spec, deps.residency)
  const displacement = findDisplaced({
    ...{ view, stored, workload, decidedOn, gated: gates.length > 0 },
    current: () => assignments.filter((each) => !isOver(deps, each)),
  })
  const facts = replicaFacts(store, tenant, view, stored, displacement)
  const planned = planRollout(desiredOf(stored, gates, displacement), placed, facts, Date.parse(now))
  const { name, resources } = stored.spec
  view.reserve(stored.uid, { name, resources, assignments: planned.kept }, decidedOn)
  const count = desiredCount(stored)
  const { plan: wanted, nowhere } = keepServing({ view, workload, facts, assignments, count }, planned)
  const { plan, placing } = placeMissing(deps, stored, { workload, wanted, displacement })
  const added = newAssignments(deps, stored, plan, placing, decidedOn)
  const held = giveUpLost(plan.kept, added, facts)
  const kept = leaveForbidden(held, added, whereabouts(deps, stored, facts, displacement))
  const other = displacement.nowhere ?? nowhere ?? placing
  const { candidates, cures, unplaced } = placing.unplaced > 0 ? placing : other
  const refused = unplaced > 0 ? explainCandidates(candidates) : undefined
  const unmet = plan.held ? gates : []
  const made = { stored, before, decidedOn, plan, kept, added, refused, cures, unmet, displacement, now }
  const { next, status, unreportedSecrets } = nextPlacement(deps, made, workload)
  const unchanged = kept === held && added.length === 0 && isUnchanged(plan, assignments)
  const settled = unchanged && sameStory(before, next)
  const nodeIds = nodesOf(facts, made)
  if (settled) view.release(stored.uid)
  // What is dropped takes its room until the store has let it go: others must not be given it before.
  else {
    const counted = [...(next?.assignments ?? []), ...plan.dropped]
    view.reserve(stored.uid, { name, resources, assignments: counted }, decidedOn)
  }
  return {
    ...made,
    settled,
    next,
    status,
    unreportedSecrets,
    nodeIds,
    seenIds: sightingsOf(facts, made, nodeIds),
    ...seenOf(facts, assignments),
  }
}

function whereabouts(
  { view, now, listensUntil }: DecideDeps,
  { spec }: StoredDeployment,
  { seen }: ReplicaFacts,
  { refusals }: Displacement,
): Whereabouts {
  const { progressDeadlineMs } = updateRulesOf(spec)
  return {
    mayBeOn: (id) => mayStay(refusals.get(id)),
    answers: (id) => view.nodeOf(id)?.status === 'ready',
    seen,
    isOverdue: ({ assignedAt }) =>
      Date.parse(now) > Math.max(Date.parse(assignedAt) + progressDeadlineMs, listensUntil),
    most: DISPLACED_AT_ONCE,
  }
}

const mayStay = (refusal: Refusal | undefined): boolean => refusal === undefined || mayStayForNow(refusal)

function seenOf(facts: ReplicaFacts, assignments: readonly Assignment[]): Pick<Decision, 'ready' | 'lost'> {
  const serving = assignments.filter((each) => isServing(each, facts))
  const lost = assignments.filter(({ nodeId }) => facts.dispositionOf(nodeId) === 'failed')
  return { ready: new Set(serving.map(({ id }) => id)), lost: new Set(lost.map(({ nodeId }) => nodeId)) }
}

function isOver({ store, tenant, view }: DecideDeps, { id, nodeId }: Assignment): boolean {
  return (
    store.get(inTenant(tenant, observations, id))?.record.gone === true ||
    view.dispositionOf(nodeId) === 'absent'
  )
}

/** At a gate: what waits for a node is no later for it. */
const hasWaited = (before: StoredPlacement | undefined): boolean =>
  before?.shortfall?.reason === DEPENDENCY_UNHEALTHY

/**
 * Whoever moves because of what its node is, must find it so still: a release can be taken back, a lost node return, a label
 * be set again.
 */
function nodesOf(
  { dispositionOf }: ReplicaFacts,
  {
    plan,
    kept,
    added,
    before,
    stored,
    displacement: { refusals },
  }: Pick<Decision, 'plan' | 'kept' | 'added' | 'before' | 'stored' | 'displacement'>,
) {
  // What is not wished any more goes whatever its node is.
  const count = desiredCount(stored)
  const absent = plan.dropped.filter(({ nodeId }) => dispositionOf(nodeId) === 'absent')
  const moved = kept.filter(
    (each) =>
      each.replica <= count &&
      dispositionOf(each.nodeId) !== 'staying' &&
      before?.assignments.includes(each) !== true,
  )
  const numbers = new Set(added.map(({ replica }) => replica))
  const left = kept.filter(({ nodeId, replica }) => numbers.has(replica) && refusals.has(nodeId))
  return new Set([...added, ...absent, ...moved, ...left].map(({ nodeId }) => nodeId))
}

/**
 * Who goes because it does not serve may serve by now, and who takes its place may serve no more: a controller that hears late
 * must not leave a number without a replica. What is silent is judged by its node.
 */
function sightingsOf(
  { dispositionOf }: ReplicaFacts,
  { kept, before, stored }: Pick<Decision, 'kept' | 'before' | 'stored'>,
  nodeIds: ReadonlySet<NodeId>,
): AssignmentId[] {
  const count = desiredCount(stored)
  const isGoing = (each: Assignment) =>
    each.replica <= count && each.desired === 'removed' && before?.assignments.includes(each) !== true
  const numbers = new Set(kept.filter(isGoing).map(({ replica }) => replica))
  const decidedOn = kept.filter(
    ({ nodeId, replica }) => numbers.has(replica) && isHeard(dispositionOf(nodeId)),
  )
  return decidedOn.slice(0, COMPARED_AT_ONCE - nodeIds.size).map(({ id }) => id)
}

const NOTHING_PLACED: Placing = { placed: [], unplaced: 0, candidates: [], cures: [] }

interface Placed {
  readonly plan: RolloutPlan
  readonly placing: Placing
}

interface Wanted {
  readonly workload: Workload
  readonly wanted: RolloutPlan
  readonly displacement: Displacement
}

function placeMissing(
  deps: DecideDeps,
  stored: StoredDeployment,
  { workload, wanted, displacement }: Wanted,
): Placed {
  // What is displaced is compared with the node that it leaves as well.
  const most = displacement.dispositions.size === 0 ? NODES_AT_ONCE : (NODES_AT_ONCE - DISPLACED_AT_ONCE) / 2
  const placeOf = (plan: RolloutPlan): Placing => {
    const { dropped, missing } = plan
    const room = most - new Set(dropped.map(({ nodeId }) => nodeId)).size
    const count = Math.min(missing.length, Math.max(0, room))
    if (count === 0) return NOTHING_PLACED
    return ignoreOutgoing(deps.view, workload, plan, () => deps.view.scheduling.place(workload, count))
  }
  const placing = placeOf(wanted)
  const plan = stopForSelfAntiAffinity(deps.view, stored, workload, wanted, placing)
  return { plan, placing: plan === wanted ? placing : placeOf(plan) }
}

function newAssignments(
  { now }: DecideDeps,
  { uid }: StoredDeployment,
  { missing }: RolloutPlan,
  { placed }: Placing,
  decidedOn: number,
): Assignment[] {
  return placed.flatMap((nodeId, index) => {
    const made = missing[index]
    if (made === undefined) return []
    const id = assignmentId(uid, made.replica, decidedOn)
    return [{ id, ...made, nodeId, desired: 'running' as const, assignedAt: now }]
  })
}
