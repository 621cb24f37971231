// One decision about one deployment: what its placement record should be, from the records as the cache shows them. Nothing
// is written here; the room that the decision takes is reserved in the tenant's view. DESIGN 4, DECISIONS 4 and 5.

import type { Assignment } from '@holdfast/contract'
import {
  explainCandidates,
  giveUpLost,
  isServing,
  isUnchanged,
  type Placing,
  planRollout,
  type ReplicaFacts,
  type RolloutPlan,
} from '@holdfast/core'
import { workloadOf } from '../../operations/scheduling-facts.ts'
import { placements, type StoredDeployment } from '../../store/records.ts'
import { inTenant } from '../../store/transaction.ts'
import { assignmentId } from './assignment-id.ts'
import type { DecideDeps, Decision } from './decision.ts'
import { makeWay } from './make-way.ts'
import { nextPlacement, sameStory } from './next-placement.ts'
import { passOver } from './pass-over.ts'
import type { TenantView } from './tenant-view.ts'
import { dependenciesOf, replicaFacts, wishedOf } from './wished-deployment.ts'

/** A transaction compares each node that it decides on, and holds 120 compares at the most (SAFETY 4a). */
const NODES_AT_ONCE = 100

export function decidePlacement(deps: DecideDeps, stored: StoredDeployment): Decision {
  const { store, tenant, view, now } = deps
  const found = store.get(inTenant(tenant, placements, stored.uid))
  const before = found?.record
  const decidedOn = found?.modRevision ?? 0
  const assignments = before?.assignments ?? []
  const gates = dependenciesOf(store, tenant, stored)
  const { listensUntil } = deps
  const placed = { ...before, assignments, listensUntil, waited: before?.toldPhase === 'Waiting' }
  const facts = replicaFacts(store, tenant, view, stored)
  const wanted = planRollout(wishedOf(stored, gates), placed, facts, Date.parse(now))
  const { name, resources } = stored.spec
  view.reserve(stored.uid, { name, resources, assignments: wanted.kept }, decidedOn)
  const { plan, placing } = placeMissing(deps, stored, wanted)
  const added = newAssignments(deps, stored, plan, placing, decidedOn)
  const kept = giveUpLost(plan.kept, added, facts)
  const refused = placing.unplaced > 0 ? explainCandidates(placing.candidates) : undefined
  const unmet = plan.held ? gates : []
  const made = { stored, before, decidedOn, plan, kept, added, refused, cures: placing.cures, unmet, now }
  const { next, status, untoldSecrets } = nextPlacement(deps, made)
  const settled = added.length === 0 && isUnchanged(plan, assignments) && sameStory(before, next)
  if (settled) view.release(stored.uid)
  else view.reserve(stored.uid, { name, resources, assignments: next?.assignments ?? [] }, decidedOn)
  return {
    ...made,
    settled,
    next,
    status,
    untoldSecrets,
    nodeIds: nodesOf(view, made),
    ...seenOf(facts, assignments),
  }
}

function seenOf(facts: ReplicaFacts, assignments: readonly Assignment[]): Pick<Decision, 'ready' | 'lost'> {
  const serving = assignments.filter((each) => isServing(each, facts))
  const lost = assignments.filter(({ nodeId }) => facts.stanceOf(nodeId) === 'failed')
  return { ready: new Set(serving.map(({ id }) => id)), lost: new Set(lost.map(({ nodeId }) => nodeId)) }
}

/** Whoever moves because of what its node is, must find it so still: a release can be taken back, a lost node return. */
function nodesOf(
  view: TenantView,
  { plan, kept, added, before }: Pick<Decision, 'plan' | 'kept' | 'added' | 'before'>,
) {
  const moved = kept.filter(
    (each) => view.stanceOf(each.nodeId) !== 'staying' && before?.assignments.includes(each) !== true,
  )
  return new Set([...added, ...plan.dropped, ...moved].map(({ nodeId }) => nodeId))
}

const NOTHING_PLACED: Placing = { placed: [], unplaced: 0, candidates: [], cures: [] }

interface Placed {
  readonly plan: RolloutPlan
  readonly placing: Placing
}

function placeMissing(deps: DecideDeps, stored: StoredDeployment, wanted: RolloutPlan): Placed {
  const workload = workloadOf(deps.store, deps.tenant, stored.spec)
  const placeOf = (plan: RolloutPlan): Placing => {
    const { dropped, missing } = plan
    const room = NODES_AT_ONCE - new Set(dropped.map(({ nodeId }) => nodeId)).size
    const count = Math.min(missing.length, Math.max(0, room))
    if (count === 0) return NOTHING_PLACED
    return passOver(deps.view, workload, plan, () => deps.view.scheduling.place(workload, count))
  }
  const placing = placeOf(wanted)
  const plan = makeWay(deps.view, stored, workload, wanted, placing)
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
