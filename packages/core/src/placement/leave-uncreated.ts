// Finds the replicas whose container their node cannot create and that another node accepts. A replica that no other node
// accepts stays, because its agent continues to try. See docs/design/nodes-that-fail.md

import type { Assignment, AssignmentId } from '@holdfast/contract'
import { desiredReplicas } from '../scaling/desired-replicas.ts'
import type { Placing } from '../scheduling/index.ts'
import { countedChanges } from './counted-changes.ts'
import { uncreated } from './remember-failures.ts'
import type { DeploymentRecord, PlacementSnapshot } from './snapshot.ts'
import { hasWriters } from './writer-claims.ts'

export interface Uncreated {
  /** The replicas that are created on another node. */
  readonly leaving: ReadonlySet<AssignmentId>
  /** The refusals of all nodes, if no other node accepts a replica; otherwise undefined. */
  readonly nowhere: Placing | undefined
}

export const NONE_UNCREATED: Uncreated = { leaving: new Set(), nowhere: undefined }

/** `beside` are the assignments of the same deployment that this plan leaves alone; they use capacity as well. */
export function leaveUncreated(
  snapshot: PlacementSnapshot,
  deployment: DeploymentRecord,
  beside: readonly Assignment[],
): Uncreated {
  if (deployment.deleting) return NONE_UNCREATED
  const { placement, scheduling, workload, counted, requests } = snapshot
  const all = placement?.assignments ?? []
  const stuck = uncreated(snapshot, all).filter(({ replica }) => replica <= desiredReplicas(deployment))
  // A replica that already has a successor needs no further one.
  const affected = stuck.filter((each) => !hasSuccessor(each, all, stuck))
  const leaving = new Set(stuck.filter((each) => !affected.includes(each)).map(({ id }) => id))
  if (affected.length === 0) return { leaving, nowhere: undefined }
  const others = [...all.filter((each) => !affected.includes(each)), ...beside]
  const changes = countedChanges(counted, { ...requests, assignments: others })
  const placing = scheduling.hypothetically(changes, () => scheduling.place(workload, affected.length))
  // A writer never leaves its volume, and no other replica may start before it is gone.
  const movable = hasWriters(snapshot, deployment) ? 0 : placing.placed.length
  for (const { id } of affected.slice(0, movable)) leaving.add(id)
  return { leaving, nowhere: placing.unplaced > 0 ? placing : undefined }
}

const hasSuccessor = (
  { id, replica, templateHash }: Assignment,
  all: readonly Assignment[],
  stuck: readonly Assignment[],
): boolean =>
  all.some(
    (each) =>
      each.id !== id &&
      each.replica === replica &&
      each.templateHash === templateHash &&
      each.desired === 'running' &&
      !stuck.includes(each),
  )
