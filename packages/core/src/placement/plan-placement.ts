// Plans everything about one deployment at one moment: which replicas stay, leave and are added, on which nodes, which
// replicas are refused and why, the status, the next placement record and the events. A pure function: equal snapshots
// give equal plans, and nothing is changed. See docs/design/placement.md and docs/design/rollouts.md

import type { Assignment, AssignmentId, NodeId } from '@holdfast/contract'
import { type SplitAssignments, splitAssignments } from '../canary/split-assignments.ts'
import type { ReplicaFacts } from '../rollout/desired-replicas.ts'
import { planRollout } from '../rollout/plan-rollout.ts'
import { isServing } from '../rollout/replica-health.ts'
import { avoidedUntil, avoiding, lazy } from '../scheduling/index.ts'
import { nodesToCompare, observationsToCompare } from './compared-records.ts'
import { recordedMatrix } from './decision-record.ts'
import { desiredDeployment, placedDeployment } from './desired-deployment.ts'
import { placementEvents } from './events/placement-events.ts'
import { isSameRecord, nextPlacement } from './next-placement.ts'
import type { PlacementPlan, PlanBasis, PlannedReplicas } from './placement-plan.ts'
import { type CanaryPlan, planCanary } from './plan-canary.ts'
import { type PlannedPart, planPart } from './plan-part.ts'
import { nextAvoided } from './remember-failures.ts'
import type { DeploymentRecord, PlacementSnapshot } from './snapshot.ts'
import { claimChanges } from './writer-claims.ts'

/** `now` is the current time in milliseconds since 1970. */
export function planPlacement(
  snapshot: PlacementSnapshot,
  deployment: DeploymentRecord,
  now: number,
): PlacementPlan {
  const { placement: before, placementRevision } = snapshot
  const avoided = nextAvoided(snapshot, now)
  const basis: PlanBasis = {
    ...{ deployment, before, placementRevision, avoided },
    now: new Date(now).toISOString(),
  }
  const aware = avoidingNodes(snapshot, avoided, now)
  const split = splitAssignments(before?.assignments ?? [], snapshot.target, deployment.canary !== undefined)
  const stable = planStable(aware, deployment, split, now)
  const { canary: state } = deployment
  if (state === undefined && split.canary.length + split.adopted.length === 0)
    return complete(aware, stable.facts, basis, triedAgain(basis, stable, now), stable.isUnmoved)
  // A transaction compares and writes a bounded number of records, so the canary's turn comes when the others are settled.
  const isTurn = stable.isUnmoved && split.adopted.length === 0
  const beside = [...stable.kept, ...stable.added]
  const canary = isTurn ? planCanary(aware, deployment, { beside, marked: split.canary }, now) : undefined
  const replicas = joinParts(stable, canary, split.canary, state)
  const isUnmoved = isTurn && canary?.part?.isUnmoved !== false && replicas.canary === state
  return complete(aware, stable.facts, basis, triedAgain(basis, replicas, now), isUnmoved)
}

/** The snapshot in which no replica is placed on a node that could not create one lately. */
function avoidingNodes(
  snapshot: PlacementSnapshot,
  avoided: PlanBasis['avoided'],
  now: number,
): PlacementSnapshot {
  const { canary } = snapshot
  const workload = avoiding(snapshot.workload, avoided, now)
  if (workload === snapshot.workload) return snapshot
  const ofCanary = canary && { canary: { ...canary, workload: avoiding(canary.workload, avoided, now) } }
  return { ...snapshot, workload, ...ofCanary }
}

/** A replica without a node is planned again when an avoided node is tried again. */
function triedAgain<Replicas extends PlannedReplicas>(
  { avoided }: PlanBasis,
  planned: Replicas,
  now: number,
): Replicas {
  const { rollout, refused, canaryRefused } = planned
  const at = refused === undefined && canaryRefused === undefined ? undefined : avoidedUntil(avoided, now)
  if (at === undefined) return planned
  return { ...planned, rollout: { ...rollout, replanAt: Math.min(rollout.replanAt ?? at, at) } }
}

function planStable(
  snapshot: PlacementSnapshot,
  deployment: DeploymentRecord,
  { stable, canary }: SplitAssignments,
  now: number,
): PlannedPart {
  const { placement, room } = snapshot
  const isWhole = placement === undefined || stable === placement.assignments
  const own = isWhole
    ? snapshot
    : { ...snapshot, placement: { ...placement, assignments: [...stable] }, room: room - canary.length }
  return planPart(own, deployment, { beside: canary, isCanary: false }, now, (facts, gated, displacement) =>
    planRollout(desiredDeployment(own, deployment, gated, displacement), placedDeployment(own), facts, now),
  )
}

/** The replicas of both parts. Only the deployment's own replicas decide about its status and what it waits for. */
function joinParts(
  stable: PlannedPart,
  canary: CanaryPlan | undefined,
  marked: readonly Assignment[],
  state: PlannedReplicas['canary'],
): PlannedReplicas {
  const { part, replanAt, state: next } = canary ?? { state }
  const { rollout } = stable
  const times = [rollout.replanAt, replanAt].filter((time) => time !== undefined)
  return {
    ...stable,
    kept: [...stable.kept, ...(part?.kept ?? marked)],
    added: [...stable.added, ...(part?.added ?? [])],
    canaryRefused: part?.refused,
    cures: [...new Set([...stable.cures, ...(part?.cures ?? [])])],
    awaited: [...stable.awaited, ...(part?.awaited ?? [])],
    canary: next,
    rollout: {
      ...rollout,
      dropped: [...rollout.dropped, ...(part?.rollout.dropped ?? [])],
      replanAt: times.length === 0 ? undefined : Math.min(...times),
    },
  }
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
