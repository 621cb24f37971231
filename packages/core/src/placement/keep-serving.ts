// A serving replica is stopped before its successor starts only if some node will accept the successor afterwards.
// Otherwise a full or cordoned node would turn an update into an outage that even a rollback could not end.

import type { Assignment } from '@holdfast/contract'
import type { ReplicaFacts } from '../rollout/desired-replicas.ts'
import type { RolloutPlan } from '../rollout/plan-rollout.ts'
import { isServing } from '../rollout/replica-health.ts'
import type { Placing, SchedulingView, Workload } from '../scheduling/index.ts'

export interface ServingQuestion {
  readonly scheduling: Pick<SchedulingView, 'place' | 'hypothetically'>
  /** The workload as the given replica number may be placed. */
  workloadFor(replica: number): Workload
  readonly facts: ReplicaFacts
  /** The assignments that are stored before the plan is applied. */
  readonly assignments: readonly Assignment[]
  /** The number of desired replicas of the deployment. */
  readonly count: number
}

interface KeptServing {
  readonly plan: RolloutPlan
  /** The refusals of all nodes, if a replica keeps serving because no node accepts its successor; otherwise undefined. */
  readonly nowhere: Placing | undefined
}

export function keepServing(question: ServingQuestion, plan: RolloutPlan): KeptServing {
  let nowhere: Placing | undefined
  const kept = plan.kept.map((each) => {
    const serving = findStoppedFirst(question, plan, each)
    if (serving === undefined) return each
    const placing = placeWithout(question.scheduling, question.workloadFor(serving.replica), [serving])
    if (placing.unplaced === 0) return each
    nowhere = placing
    return serving
  })
  return nowhere === undefined ? { plan, nowhere } : { plan: { ...plan, kept }, nowhere }
}

/**
 * The stored assignment, if the plan stops its replica although the replica serves and no other assignment of the same
 * number keeps running. Undefined otherwise, and for a replica that must not run on its node.
 */
function findStoppedFirst(
  { assignments, count, facts }: ServingQuestion,
  { kept }: RolloutPlan,
  { id, replica, nodeId, desired }: Assignment,
): Assignment | undefined {
  if (desired === 'running' || replica > count || facts.dispositionOf(nodeId) === 'barred') return undefined
  const stored = assignments.find((each) => each.id === id)
  if (stored?.desired !== 'running' || !isServing(stored, facts)) return undefined
  const hasOther = kept.some((each) => each.replica === replica && each.desired === 'running')
  return hasOther ? undefined : stored
}

/** Finds a node for one more replica, as if the `released` replicas were gone. */
export function placeWithout(
  scheduling: Pick<SchedulingView, 'place' | 'hypothetically'>,
  workload: Workload,
  released: readonly Assignment[],
): Placing {
  const { name, resources } = workload
  const changes = released.map(({ nodeId }) => ({ kind: 'release' as const, nodeId, name, resources }))
  return scheduling.hypothetically(changes, () => scheduling.place(workload, 1))
}
