// Hypothetical questions about a tenant: replicas are released, entered or renamed for one question, and the state is
// restored before the answer is returned, even if the question throws. See
// docs/design/placement.md#hypothetical-questions

import type { Capacity, NodeId } from '@holdfast/contract'
import { dropReplica, enterReplica, type TenantState } from './tenant-state.ts'

/** One replica of a deployment on a node, with the resources that it requests. */
interface AssignedReplica {
  readonly nodeId: NodeId
  /** The name of the deployment. */
  readonly name: string
  readonly resources: Capacity
}

/**
 * An assumed change for a hypothetical question.
 * `release`: the replica is gone, with its requests and its share of the quota. Ignored if the view has no such replica.
 * `enter`: the replica is added.
 * `rename`: the replica keeps its requests and its share of the quota, but spread, affinity and anti-affinity see it
 * under the name `to`. Ignored if the view has no such replica.
 */
export type HypotheticalChange = AssignedReplica &
  ({ readonly kind: 'release' | 'enter' } | { readonly kind: 'rename'; readonly to: string })

/**
 * The value of `to` for a replica that spread, affinity and anti-affinity must ignore. No deployment can have this name.
 */
export const NO_DEPLOYMENT = ''

export function hypothetically<Answer>(
  state: TenantState,
  changes: readonly HypotheticalChange[],
  ask: () => Answer,
): Answer {
  return restoring(state, (apply) => {
    for (const change of changes) apply(change)
    return ask()
  })
}

/**
 * Calls `ask` and then undoes every change that it applied, the last change first, even if `ask` throws. `ask` must be
 * synchronous.
 */
export function restoring<Answer>(
  state: TenantState,
  ask: (apply: (change: HypotheticalChange) => void) => Answer,
): Answer {
  const undos: Undo[] = []
  state.openQuestions += 1
  try {
    return ask((change) => {
      undos.push(enterChange(state, change))
    })
  } finally {
    for (const undo of undos.reverse()) undo()
    state.openQuestions -= 1
  }
}

type Undo = () => void

function enterChange(state: TenantState, change: HypotheticalChange): Undo {
  const { kind, nodeId, name, resources } = change
  const { used } = state.containers
  const restoreUsed = () => {
    state.containers.used = used
  }
  const enter = (as: string) => enterReplica(state, nodeId, as, resources)
  const drop = (as: string) => dropReplica(state, nodeId, as, resources)
  if (kind === 'enter') {
    enter(name)
    return () => {
      drop(name)
      restoreUsed()
    }
  }
  if (!drop(name)) return restoreUsed
  if (kind === 'rename') enter(change.to)
  return () => {
    if (kind === 'rename') drop(change.to)
    enter(name)
    restoreUsed()
  }
}
