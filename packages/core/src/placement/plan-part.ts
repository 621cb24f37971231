// Plans one set of replicas, those of the deployment or those of its canary: which stay, leave and are added, on which
// nodes, and why others have no node.

import { type Assignment, capabilitiesNeeded, ownerOf } from '@holdfast/contract'
import { unmetDependencies } from '../rollout/dependency-gate.ts'
import type { ReplicaFacts } from '../rollout/desired-replicas.ts'
import { isUnchanged, removeReplacedLost } from '../rollout/plan-replicas.ts'
import type { RolloutPlan } from '../rollout/plan-rollout.ts'
import { updateRulesOf } from '../rollout/plan-rollout-rules.ts'
import { desiredReplicas } from '../scaling/desired-replicas.ts'
import {
  isSilent,
  leaveForbidden,
  mayStayForNow,
  type Placing,
  type Whereabouts,
} from '../scheduling/index.ts'
import { assignmentId } from './assignment-id.ts'
import { type ChosenNodes, chooseNodes } from './choose-nodes.ts'
import { countedChanges } from './counted-changes.ts'
import { replicaFacts } from './desired-deployment.ts'
import { DISPLACED_AT_ONCE, type Displacement, findDisplaced } from './find-displaced.ts'
import { keepServing } from './keep-serving.ts'
import { leaveUncreated } from './leave-uncreated.ts'
import type { PlannedReplicas } from './placement-plan.ts'
import { workloadFor } from './return-home.ts'
import type { DeploymentRecord, PlacementSnapshot } from './snapshot.ts'
import { withoutUnclaimed } from './writer-claims.ts'

export interface PlannedPart extends PlannedReplicas {
  readonly facts: ReplicaFacts
  /** True if the plan changes no assignment. */
  readonly isUnmoved: boolean
}

/** The replicas of the same deployment that this plan leaves alone, and whether it plans those of the canary. */
export interface OtherReplicas {
  readonly beside: readonly Assignment[]
  readonly isCanary: boolean
}

/** Plans the replicas; `gated` is true while a dependency is not ready. */
export type PlanRollout = (facts: ReplicaFacts, gated: boolean, displacement: Displacement) => RolloutPlan

export function planPart(
  snapshot: PlacementSnapshot,
  deployment: DeploymentRecord,
  others: OtherReplicas,
  now: number,
  planRollout: PlanRollout,
): PlannedPart {
  const unmet = unmetDependencies(deployment.spec, snapshot.dependency)
  const gated = unmet.length > 0
  const displacement = findDisplaced(snapshot, deployment, gated, others.beside)
  const uncreated = leaveUncreated(snapshot, deployment, others.beside)
  const facts = replicaFacts(snapshot, displacement, uncreated)
  const planned = withoutUnclaimed(snapshot, deployment, planRollout(facts, gated, displacement))
  const {
    plan: rollout,
    placing,
    nowhere,
  } = chooseReplicas(aimedAt(snapshot, planned), deployment, facts, planned, others.beside)
  const added = newAssignments(snapshot, deployment, others, { rollout, placing }, now)
  const withoutLost = removeReplacedLost(rollout.kept, added, facts)
  const kept = leaveForbidden(withoutLost, added, whereabouts(snapshot, deployment, displacement, now))
  const unmoved = displacement.nowhere ?? uncreated.nowhere ?? nowhere
  const refusing = placing.unplaced > 0 ? placing : (unmoved ?? placing)
  return {
    rollout,
    kept,
    added,
    displacement,
    uncreated,
    refused: refusing.explanation,
    canaryRefused: undefined,
    cures: refusing.cures,
    unmet: rollout.held ? unmet : [],
    awaited: rollout.held ? unmet : [],
    canary: undefined,
    facts,
    isUnmoved:
      kept === withoutLost &&
      added.length === 0 &&
      isUnchanged(rollout, snapshot.placement?.assignments ?? []),
  }
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
  beside: readonly Assignment[],
): ChosenNodes & { readonly nowhere: Placing | undefined } {
  const { scheduling, counted, placement, requests } = snapshot
  const kept = planned.kept.filter((each) => facts.isSuperseded?.(each) !== true)
  const all = beside.length === 0 ? kept : [...kept, ...beside]
  const changes = countedChanges(counted, { ...requests, assignments: all })
  return scheduling.hypothetically(changes, () => {
    const assignments = placement?.assignments ?? []
    const workloads = { workloadFor: (replica: number) => workloadFor(snapshot, replica) }
    const question = { scheduling, ...workloads, facts, assignments, count: desiredReplicas(deployment) }
    const { plan, nowhere } = keepServing(question, planned)
    return { ...chooseNodes(snapshot, deployment, plan, facts), nowhere }
  })
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
    answers(id) {
      const node = nodeOf(id)
      return node?.status === 'ready' && !isSilent(node)
    },
    seen,
    isOverdue: ({ assignedAt }) => now > Math.max(Date.parse(assignedAt) + progressDeadlineMs, graceUntil),
    most: DISPLACED_AT_ONCE,
  }
}

function newAssignments(
  { sha256, placementRevision }: PlacementSnapshot,
  { uid }: DeploymentRecord,
  { isCanary }: OtherReplicas,
  { rollout: { missing }, placing: { placed } }: { readonly rollout: RolloutPlan; readonly placing: Placing },
  now: number,
): Assignment[] {
  const owner = ownerOf('deployment', uid)
  const assignedAt = new Date(now).toISOString()
  const mark = isCanary ? { canary: true } : {}
  return placed.flatMap((nodeId, index) => {
    const replica = missing[index]
    if (replica === undefined) return []
    const id = assignmentId(owner, { number: replica.replica, isCanary }, placementRevision, sha256)
    return [{ id, ...replica, nodeId, desired: 'running' as const, assignedAt, ...mark }]
  })
}
