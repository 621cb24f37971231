// What spoke for the node of each replica that a foreseen decision places, when it was chosen: those that stand count, those
// before it in the same decision too, and those that make way for a successor take room alone, as when it is spread
// (pass-over.ts).

import type { Assignment, AssignmentId } from '@holdfast/contract'
import type { PickDescriber, Workload } from '@holdfast/core'
import type { Decision } from './decision.ts'
import { makingWay } from './ignore-outgoing.ts'
import type { Turn } from './planned-steps.ts'

export interface PickReasons {
  of(decision: Pick<Decision, 'added' | 'kept' | 'plan'>): Turn['added']
}

interface Counted extends Pick<Assignment, 'nodeId'> {
  readonly unnamed: boolean
}

/** `describer` is of the facts with what is `placed`. */
export function createPickReasons(
  workload: Workload,
  describer: PickDescriber,
  placed: readonly Assignment[],
): PickReasons {
  const counted = new Map<AssignmentId, Counted>()
  for (const { id, nodeId } of placed) counted.set(id, { nodeId, unnamed: false })
  const drop = (id: AssignmentId, { nodeId, unnamed }: Counted): void => {
    counted.delete(id)
    describer.count(nodeId, -1, unnamed)
  }
  const enter = (id: AssignmentId, one: Counted): void => {
    counted.set(id, one)
    describer.count(one.nodeId, 1, one.unnamed)
  }
  return {
    of({ added, kept, plan }) {
      const going = new Set(makingWay(workload, kept, plan.missing))
      const now = new Map(kept.map((each) => [each.id, going.has(each)]))
      for (const [id, one] of counted) if (now.get(id) !== one.unnamed) drop(id, one)
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
