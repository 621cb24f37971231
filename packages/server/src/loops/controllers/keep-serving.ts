// A replica that serves is stopped before its successor is made only where one can be made then: else a node that is closed or
// full would turn an update into an outage, which not even its rollback ends. DECISIONS 4 (update).

import type { Assignment } from '@holdfast/contract'
import { isServing, type Placing, type ReplicaFacts, type RolloutPlan, type Workload } from '@holdfast/core'
import { placeWithout } from './stop-for-self-anti-affinity.ts'
import type { TenantView } from './tenant-view.ts'

interface Question {
  readonly view: Pick<TenantView, 'scheduling'>
  readonly workload: Workload
  readonly facts: ReplicaFacts
  /** As they were decided on. */
  readonly assignments: readonly Assignment[]
  /** The replicas that are wished. */
  readonly count: number
}

interface Spared {
  readonly plan: RolloutPlan
  /** The answer of all nodes, where a replica was spared. */
  readonly nowhere: Placing | undefined
}

export function keepServing(question: Question, plan: RolloutPlan): Spared {
  let nowhere: Placing | undefined
  const kept = plan.kept.map((each) => {
    const was = stoppedFirst(question, plan, each)
    if (was === undefined) return each
    const placing = placeWithout(question.view, question.workload, [was])
    if (placing.unplaced === 0) return each
    nowhere = placing
    return was
  })
  return nowhere === undefined ? { plan, nowhere } : { plan: { ...plan, kept }, nowhere }
}

/** What it was, where it serves, goes by this decision, and leaves its number without any other; not where it may not be. */
function stoppedFirst(
  { assignments, count, facts }: Question,
  { kept }: RolloutPlan,
  { id, replica, nodeId, desired }: Assignment,
): Assignment | undefined {
  if (desired === 'running' || replica > count || facts.dispositionOf(nodeId) === 'barred') return undefined
  const was = assignments.find((each) => each.id === id)
  if (was?.desired !== 'running' || !isServing(was, facts)) return undefined
  return kept.some((each) => each.replica === replica && each.desired === 'running') ? undefined : was
}
