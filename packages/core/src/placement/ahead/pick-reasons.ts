// Explains why each replica of a dry-run plan goes to its node, with the cluster state at the moment of the choice. The
// state includes replicas placed by earlier decisions, and earlier in the same decision. In the state, replicas that are
// being replaced only occupy capacity.

import type { Assignment, AssignmentId } from '@holdfast/contract'
import type { PickDescriber, Workload } from '../../scheduling/index.ts'
import { outgoingReplicas } from '../ignore-outgoing.ts'
import type { PlacementPlan } from '../placement-plan.ts'
import type { PlannedTurn } from './replica-courses.ts'

export interface PickReasons {
  /** Must be called once for each decision of the dry run, in the order of the decisions. */
  of(plan: Pick<PlacementPlan, 'added' | 'kept' | 'rollout'>): PlannedTurn['added']
}

interface CountedPick extends Pick<Assignment, 'nodeId'> {
  readonly unnamed: boolean
}

/** `placed` are the assignments before the dry run. The facts of `describer` must already include their replicas. */
export function createPickReasons(
  workload: Workload,
  describer: PickDescriber,
  placed: readonly Assignment[],
): PickReasons {
  const counted = new Map<AssignmentId, CountedPick>()
  for (const { id, nodeId } of placed) counted.set(id, { nodeId, unnamed: false })
  const release = (id: AssignmentId, { nodeId, unnamed }: CountedPick): void => {
    counted.delete(id)
    describer.count(nodeId, -1, unnamed)
  }
  const enter = (id: AssignmentId, pick: CountedPick): void => {
    counted.set(id, pick)
    describer.count(pick.nodeId, 1, pick.unnamed)
  }
  return {
    of({ added, kept, rollout }) {
      const outgoing = new Set(outgoingReplicas(workload, kept, rollout.missing))
      const now = new Map(kept.map((each) => [each.id, outgoing.has(each)]))
      for (const [id, pick] of counted) if (now.get(id) !== pick.unnamed) release(id, pick)
      for (const { id, nodeId } of kept)
        if (!counted.has(id)) enter(id, { nodeId, unnamed: now.get(id) === true })
      return added.map((assignment) => {
        const why = describer.describe(assignment.nodeId)
        enter(assignment.id, { nodeId: assignment.nodeId, unnamed: false })
        return { assignment, why }
      })
    },
  }
}
