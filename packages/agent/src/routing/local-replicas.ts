// Classifies this node's replicas for routing: a desired, running and ready replica serves. A replica that already ran at
// the agent's start is unverified until its readiness is known.

import type { AssignmentId, DesiredItem } from '@holdfast/contract'
import { isReady, observeReplica, type ReplicaView } from '@holdfast/core/node'
import { type LocalReplica, runOf } from './plan-backends.ts'

export function localReplicas(
  desired: ReadonlyMap<AssignmentId, DesiredItem>,
  view: (id: AssignmentId) => ReplicaView | undefined,
): LocalReplica[] {
  return [...desired.values()].map((item) => localReplica(item, view(item.assignmentId)))
}

function localReplica(
  { owner, assignmentId, desired }: DesiredItem,
  view: ReplicaView | undefined,
): LocalReplica {
  const seen = typeof view?.container === 'object' ? view.container : undefined
  const state = view === undefined || desired !== 'running' ? 'out' : stateOf(view)
  return { owner, assignmentId, run: seen && runOf(seen), address: seen?.address ?? undefined, state }
}

function stateOf(view: ReplicaView): LocalReplica['state'] {
  if (view.unverified) return 'unverified'
  if (view.container === 'unknown') return view.creating || view.activity !== undefined ? 'out' : 'unverified'
  return isReady(observeReplica(view, undefined)) ? 'serves' : 'out'
}
