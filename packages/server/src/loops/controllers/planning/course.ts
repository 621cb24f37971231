// Records what a dry run decides about one deployment, decision by decision, for its steps and effects.

import { type Assignment, type NodeId, ownerOf, type ResidencyRules, type TenantId } from '@holdfast/contract'
import {
  desiredReplicas,
  hasFailedEngine,
  isReady,
  type NodeDisposition,
  stableAssignments,
  type Workload,
} from '@holdfast/core'
import {
  avoiding,
  canaryWaitsText,
  createPickDescriber,
  createPickReasons,
  isRunning,
  type PickReasons,
  type PlacementPlan,
  type PlannedDeployment,
  type PlannedTurn,
  waitsText,
} from '@holdfast/core/placement'
import type { Quotas } from '../../../quotas/quotas.ts'
import { deploymentRequests } from '../../../scheduling/canary-spec.ts'
import { canarySnapshot } from '../../../scheduling/canary-target.ts'
import { gatherTenantFacts, workloadOf } from '../../../scheduling/scheduling-facts.ts'
import type { OverlayStore } from '../../../store/overlay-store.ts'
import {
  deployments,
  observations,
  type StoredDeployment,
  type StoredNode,
  type StoredPlacement,
} from '../../../store/records.ts'
import { inTenant, placementAt } from '../../../store/transaction.ts'
import type { TenantView } from '../placement/tenant-view.ts'

export interface CourseDeps {
  readonly store: OverlayStore
  readonly tenant: TenantId
  readonly view: TenantView
  readonly quotas: Pick<Quotas, 'limit'>
  readonly residency: ResidencyRules
  /** All nodes before the change, which may remove a node. */
  readonly nodesBefore: ReadonlyMap<NodeId, StoredNode>
}

/** Everything that a plan records about one deployment while it runs. */
export interface Course {
  readonly name: string
  readonly stored: StoredDeployment | undefined
  readonly isWritten: boolean
  readonly placementBefore: StoredPlacement | undefined
  readonly readyBefore: ReadonlySet<number>
  readonly turns: PlannedTurn[]
  /** Limit of decisions about the deployment. */
  readonly most: number
  /** Created with the first decision. */
  reasons: PickReasons | undefined
  isCut: boolean
}

/** A replica needs at most four decisions: create it, see it ready, stop the old one, see that it is gone. */
const mostTurns = (replicas: number): number => 20 + 4 * replicas

/** `stored` is the deployment before the change, and `current` the deployment after it. */
export function createCourse(
  deps: CourseDeps,
  current: StoredDeployment,
  stored: StoredDeployment | undefined,
  isWritten: boolean,
): Course {
  const { store, tenant, nodesBefore } = deps
  const placementBefore = store.get(placementAt(tenant, ownerOf('deployment', current.uid)))?.record
  const placed = placementBefore?.assignments ?? []
  const wasThere = (id: NodeId): boolean => {
    const node = nodesBefore.get(id)
    return node !== undefined && node.status !== 'failed' && !hasFailedEngine(node)
  }
  return {
    name: current.spec.name,
    stored,
    isWritten,
    placementBefore,
    readyBefore: readyNumbers(deps, placed, wasThere),
    turns: [],
    most: mostTurns(Math.max(desiredReplicas(current), placed.length)),
    reasons: undefined,
    isCut: false,
  }
}

/** Adds a decision about the deployment `stored` to the course. `apply` stores the decision in the overlay. */
export function recordTurn(
  deps: CourseDeps,
  course: Course,
  { stored, plan }: { readonly stored: StoredDeployment; readonly plan: PlacementPlan },
  apply: () => void,
): void {
  const { store, tenant, view } = deps
  const before =
    store.get(placementAt(tenant, ownerOf('deployment', plan.deployment.uid)))?.record.assignments ?? []
  course.reasons ??= pickReasons(deps, stored, plan, before)
  const added = course.reasons.of(plan)
  apply()
  const after = plan.next?.assignments ?? []
  const dispositions = new Map<NodeId, NodeDisposition | 'displaced'>()
  for (const { nodeId } of before) {
    const isDisplaced = plan.displacement.dispositions.has(nodeId)
    dispositions.set(nodeId, isDisplaced ? 'displaced' : view.dispositionOf(nodeId))
  }
  const removed = stoppedBetween(before, after)
  const isThere = (id: NodeId) => !['failed', 'absent'].includes(view.dispositionOf(id))
  const ready = readyNumbers(deps, after, isThere)
  const [waits, canaryWaits] = [waitsText(plan), canaryWaitsText(plan)]
  course.turns.push({ added, removed, dispositions, ready, waits, canaryWaits })
}

function pickReasons(
  { store, tenant, quotas, residency }: CourseDeps,
  stored: StoredDeployment,
  { avoided, now }: Pick<PlacementPlan, 'avoided' | 'now'>,
  placed: readonly Assignment[],
): PickReasons {
  const facts = gatherTenantFacts(store, quotas, tenant)
  const sourceOf = (demanded: Workload) => {
    const workload = avoiding(demanded, avoided, Date.parse(now))
    return { workload, describer: createPickDescriber(workload, facts) }
  }
  const own = sourceOf(workloadOf(store, tenant, stored.spec, residency))
  const canary = canarySnapshot(store, tenant, stored, residency)
  const requests = deploymentRequests(stored)
  return createPickReasons(
    canary === undefined ? { own, requests } : { own, canary: sourceOf(canary.workload), requests },
    placed,
  )
}

function stoppedBetween(before: readonly Assignment[], after: readonly Assignment[]): Assignment[] {
  const running = new Set(after.filter(isRunning).map(({ id }) => id))
  return before.filter((each) => isRunning(each) && !running.has(each.id))
}

/** The replica numbers of the deployment itself that serve: ready, on a node that is neither failed nor removed. */
function readyNumbers(
  { store, tenant }: CourseDeps,
  assignments: readonly Assignment[],
  isThere: (id: NodeId) => boolean,
): ReadonlySet<number> {
  const serving = stableAssignments(assignments).filter(
    (each) =>
      isRunning(each) &&
      isThere(each.nodeId) &&
      isReady(store.get(inTenant(tenant, observations, each.id))?.record),
  )
  return new Set(serving.map(({ replica }) => replica))
}

export function plannedDeployment(
  { store, tenant, nodesBefore }: CourseDeps,
  course: Course,
): PlannedDeployment | undefined {
  const { name, stored, isWritten, placementBefore, readyBefore, turns, isCut } = course
  const next = store.get(inTenant(tenant, deployments, name))?.record
  if (next === undefined) return undefined
  const placementAfter = store.get(placementAt(tenant, ownerOf('deployment', next.uid)))?.record
  const nodeName = (id: NodeId) => nodesBefore.get(id)?.name ?? id
  return { stored, next, isWritten, placementBefore, placementAfter, readyBefore, turns, isCut, nodeName }
}
