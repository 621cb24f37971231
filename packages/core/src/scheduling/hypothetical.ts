// Hypothetical questions about a tenant: replicas are released, entered or renamed for one question, and the state is
// restored before the answer is returned, whatever the question throws. See docs/design/placement.md#hypothetical-questions

import type { Capacity, NodeId } from '@holdfast/contract'
import { dropReplica, enterReplica, type TenantState } from './tenant-state.ts'

/** One replica of a deployment on a node, with what it requests. */
interface AssignedReplica {
  readonly nodeId: NodeId
  /** Of the deployment. */
  readonly name: string
  readonly resources: Capacity
}

/**
 * `release`: the replica is gone, with its requests and its share of the quota. Ignored where the view has no such replica.
 * `enter`: one more replica is there.
 * `rename`: the replica keeps its requests and its share of the quota, but spread, affinity and anti-affinity see it under
 * the name `to`. Ignored where the view has no such replica.
 */
export type HypotheticalChange = AssignedReplica &
  ({ readonly kind: 'release' | 'enter' } | { readonly kind: 'rename'; readonly to: string })

/** The name `to` of a replica that spread, affinity and anti-affinity must ignore: no deployment can have this name. */
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

/** Undoes every change that `ask` applied, the last one first, also when `ask` throws. `ask` must be synchronous. */
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
