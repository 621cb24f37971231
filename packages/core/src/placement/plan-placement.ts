// Plans everything about one deployment at one moment: which replicas stay, leave and are added, on which nodes, which
// replicas are refused and why, the status, the next placement record and the events. A pure function: equal snapshots
// give equal plans, and nothing is changed. See docs/design/placement.md and docs/design/rollouts.md

import {
  type Assignment,
  type AssignmentId,
  capabilitiesNeeded,
  type NodeId,
  ownerOf,
} from '@holdfast/contract'
import { unmetDependencies } from '../rollout/dependency-gate.ts'
import type { ReplicaFacts } from '../rollout/desired-replicas.ts'
import { isUnchanged, removeReplacedLost } from '../rollout/plan-replicas.ts'
import { planRollout, type RolloutPlan } from '../rollout/plan-rollout.ts'
import { updateRulesOf } from '../rollout/plan-rollout-rules.ts'
import { isServing } from '../rollout/replica-health.ts'
import { desiredReplicas } from '../scaling/desired-replicas.ts'
import { lazy, leaveForbidden, mayStayForNow, type Placing, type Whereabouts } from '../scheduling/index.ts'
import { assignmentId } from './assignment-id.ts'
import { type ChosenNodes, chooseNodes } from './choose-nodes.ts'
import { nodesToCompare, observationsToCompare } from './compared-records.ts'
import { countedChanges } from './counted-changes.ts'
import { recordedMatrix } from './decision-record.ts'
import { desiredDeployment, placedDeployment, replicaFacts } from './desired-deployment.ts'
import { placementEvents } from './events/placement-events.ts'
import { DISPLACED_AT_ONCE, type Displacement, findDisplaced } from './find-displaced.ts'
import { keepServing } from './keep-serving.ts'
import { isSameRecord, nextPlacement } from './next-placement.ts'
import type { PlacementPlan, PlanBasis, PlannedReplicas } from './placement-plan.ts'
import type { DeploymentRecord, PlacementSnapshot } from './snapshot.ts'
import { claimChanges, withoutUnclaimed } from './writer-claims.ts'

/** `now` is the current time in milliseconds since 1970. */
export function planPlacement(
  snapshot: PlacementSnapshot,
  deployment: DeploymentRecord,
  now: number,
): PlacementPlan {
  const { placement: before, placementRevision } = snapshot
  const basis: PlanBasis = { deployment, before, placementRevision, now: new Date(now).toISOString() }
  const unmet = unmetDependencies(deployment.spec, snapshot.dependency)
  const displacement = findDisplaced(snapshot, deployment, unmet.length > 0)
  const facts = replicaFacts(snapshot, displacement)
  const desired = desiredDeployment(snapshot, deployment, unmet.length > 0, displacement)
  const rolled = planRollout(desired, placedDeployment(snapshot), facts, now)
  const planned = withoutUnclaimed(snapshot, deployment, rolled)
  const {
    plan: rollout,
    placing,
    nowhere,
  } = chooseReplicas(aimedAt(snapshot, planned), deployment, facts, planned, displacement)
  const added = newAssignments(snapshot, basis, rollout, placing)
  const withoutLost = removeReplacedLost(rollout.kept, added, facts)
  const kept = leaveForbidden(withoutLost, added, whereabouts(snapshot, deployment, displacement, now))
  const refusing = placing.unplaced > 0 ? placing : (displacement.nowhere ?? nowhere ?? placing)
  const replicas: PlannedReplicas = {
    rollout,
    kept,
    added,
    displacement,
    refused: refusing.explanation,
    cures: refusing.cures,
    unmet: rollout.held ? unmet : [],
  }
  const isUnmoved =
    kept === withoutLost && added.length === 0 && isUnchanged(rollout, before?.assignments ?? [])
  return complete(snapshot, facts, basis, replicas, isUnmoved)
}

/** The snapshot with the capabilities that missing replicas need: during a rollback, those of the last good revision. */
function aimedAt(snapshot: PlacementSnapshot, { aim }: RolloutPlan): PlacementSnapshot {
  const { target, placement, workload } = snapshot
  if (aim === undefined || aim.templateHash === target?.templateHash) return snapshot
  const template = placement?.templates[aim.templateHash]
  return template === undefined
    ? snapshot
    : { ...snapshot, workload: { ...workload, needs: capabilitiesNeeded(template) } }
}

/**
 * Chooses nodes as if the scheduling view held exactly the assignments that the rollout keeps. A container that lost its
 * volumes to another node counts as gone: its machine may never confirm it, and its successor must fit the quota.
 */
function chooseReplicas(
  snapshot: PlacementSnapshot,
  deployment: DeploymentRecord,
  facts: ReplicaFacts,
  planned: RolloutPlan,
  displacement: Displacement,
): ChosenNodes & { readonly nowhere: Placing | undefined } {
  const { scheduling, workload, counted, placement } = snapshot
  const { name, resources } = workload
  const kept = planned.kept.filter((each) => facts.isSuperseded?.(each) !== true)
  const changes = countedChanges(counted, { name, resources, assignments: kept })
  return scheduling.hypothetically(changes, () => {
    const assignments = placement?.assignments ?? []
    const question = { scheduling, workload, facts, assignments, count: desiredReplicas(deployment) }
    const { plan, nowhere } = keepServing(question, planned)
    return { ...chooseNodes(snapshot, deployment, plan, displacement), nowhere }
  })
}

function complete(
  snapshot: PlacementSnapshot,
  facts: ReplicaFacts,
  basis: PlanBasis,
  replicas: PlannedReplicas,
  isUnmoved: boolean,
): PlacementPlan {
  const { before } = basis
  const { next, status, failing, unreportedSecrets } = nextPlacement(snapshot, basis, replicas)
  const claims = claimChanges(snapshot, replicas.added, next)
  const nodeIds = nodesToCompare(facts, { ...basis, ...replicas })
  const nodeName = (id: NodeId) => snapshot.nodeOf(id)?.name ?? id
  const plan: PlacementPlan = {
    ...basis,
    ...replicas,
    next,
    status,
    failing,
    unreportedSecrets,
    isSettled: isUnmoved && isSameRecord(before, next) && claims.released.length === 0,
    claims,
    ready: servingAmong(before?.assignments ?? [], facts),
    lostNodes: lostAmong(before?.assignments ?? [], facts),
    nodesToCompare: nodeIds,
    observationsToCompare: observationsToCompare(facts, { ...basis, ...replicas }, nodeIds),
    // An assignment that leaves the record keeps its capacity until the record is stored: no other replica may use that
    // capacity earlier.
    reserved: [...(next?.assignments ?? []), ...replicas.rollout.dropped],
    events: lazy(() => placementEvents(plan, nodeName)),
    recordedMatrix: lazy(() => recordedMatrix(plan)),
  }
  return plan
}

function servingAmong(assignments: readonly Assignment[], facts: ReplicaFacts): Set<AssignmentId> {
  return new Set(assignments.filter((each) => isServing(each, facts)).map(({ id }) => id))
}

function lostAmong(assignments: readonly Assignment[], { dispositionOf }: ReplicaFacts): Set<NodeId> {
  const nodeIds = assignments.map(({ nodeId }) => nodeId)
  return new Set(nodeIds.filter((nodeId) => dispositionOf(nodeId) === 'failed'))
}

function whereabouts(
  { nodeOf, seen, graceUntil }: PlacementSnapshot,
  { spec }: DeploymentRecord,
  { refusals }: Displacement,
  now: number,
): Whereabouts {
  const { progressDeadlineMs } = updateRulesOf(spec)
  return {
    mayBeOn(id) {
      const refusal = refusals.get(id)
      return refusal === undefined || mayStayForNow(refusal)
    },
    answers: (id) => nodeOf(id)?.status === 'ready',
    seen,
    isOverdue: ({ assignedAt }) => now > Math.max(Date.parse(assignedAt) + progressDeadlineMs, graceUntil),
    most: DISPLACED_AT_ONCE,
  }
}

function newAssignments(
  { sha256 }: PlacementSnapshot,
  { deployment, placementRevision, now }: PlanBasis,
  { missing }: RolloutPlan,
  { placed }: Placing,
): Assignment[] {
  const owner = ownerOf('deployment', deployment.uid)
  return placed.flatMap((nodeId, index) => {
    const replica = missing[index]
    if (replica === undefined) return []
    const id = assignmentId(owner, replica.replica, placementRevision, sha256)
    return [{ id, ...replica, nodeId, desired: 'running' as const, assignedAt: now }]
  })
}
