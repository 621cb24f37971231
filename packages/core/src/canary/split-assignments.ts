// Separates the replicas of a canary from those of the deployment. A promotion removes the canary from the record: its
// replicas that run what the deployment now desires are adopted. Those of an aborted canary are removed, whatever they run.
// See docs/design/canaries.md#promotion

import type { Assignment, RevisionTarget } from '@holdfast/contract'

export interface SplitAssignments {
  /** The replicas of the deployment, including adopted ones. */
  readonly stable: readonly Assignment[]
  readonly canary: readonly Assignment[]
  /** The assignments of `stable` that belonged to a canary until now. */
  readonly adopted: readonly Assignment[]
}

export const isCanaryReplica = ({ canary }: Pick<Assignment, 'canary'>): boolean => canary === true

/** The assignments of a deployment without those of its canary. */
export const stableAssignments = (assignments: readonly Assignment[]): readonly Assignment[] =>
  assignments.some(isCanaryReplica) ? assignments.filter((each) => !isCanaryReplica(each)) : assignments

/** `hasCanary` is false once the canary was promoted; an aborted or superseded one stays in the record. */
export function splitAssignments(
  assignments: readonly Assignment[],
  target: RevisionTarget | undefined,
  hasCanary: boolean,
): SplitAssignments {
  const marked = assignments.filter(isCanaryReplica)
  if (marked.length === 0) return { stable: assignments, canary: marked, adopted: marked }
  const isAdopted = ({ templateHash, desired }: Assignment) =>
    !hasCanary && desired === 'running' && templateHash === target?.templateHash
  const adopted = marked.filter(isAdopted).map(({ canary: _mark, ...each }) => ({
    ...each,
    revision: target?.revision ?? each.revision,
  }))
  return {
    stable: [...stableAssignments(assignments), ...adopted],
    canary: marked.filter((each) => !isAdopted(each)),
    adopted,
  }
}
