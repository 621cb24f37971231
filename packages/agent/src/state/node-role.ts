// Decides whether this node may create containers. On a node that runs the control plane only the platform's own
// workloads may be created: the scheduler places no others, and the agent rejects others. Deployments and jobs that were
// here before the node had this role may be recreated, also by a new assignment: an update is no new placement. See
// docs/design/liveness.md#control-plane-nodes.

import type { DesiredItem } from '@holdfast/contract'
import type { Logger } from 'pino'
import { type NodeState, saveClosedBut } from './node-state.ts'
import { createSaver } from './saver.ts'

/** The node's role as the server reports it at the start of a session; absent fields change nothing. */
export interface ReportedRole {
  readonly controlPlane?: boolean
  readonly platform?: boolean
}

export type OwnedItem = Pick<DesiredItem, 'assignmentId' | 'owner'>

export interface NodeRole {
  /** Applies the reported role. `present`: the items that this node had before the session. */
  apply(reported: ReportedRole, present: Iterable<OwnedItem>): void
  mayCreate(item: OwnedItem): boolean
  /** Resolves when the node's role is on disk, or could not be written. */
  settled(): Promise<void>
  close(): Promise<void>
}

export function createNodeRole(folder: string, state: Pick<NodeState, 'closedBut'>, log: Logger): NodeRole {
  let closedBut = state.closedBut === undefined ? undefined : new Set<string>(state.closedBut)
  const { save, settled, close } = createSaver({
    write: () => saveClosedBut(folder, closedBut === undefined ? undefined : [...closedBut]),
    onFailed: (error) => log.error({ message: String(error) }, 'node role write failed, retrying'),
    onSaved: () => log.info({}, 'node role written'),
  })
  return {
    apply({ controlPlane, platform }, present) {
      if (controlPlane === undefined) return
      const isClosed = controlPlane && platform !== true
      const before = closedBut
      closedBut = isClosed ? exceptionsOf(before, present) : undefined
      if (closedBut?.size === before?.size) return
      if (isClosed !== (before !== undefined))
        log.info({ isClosed }, 'control plane role of this node changed')
      save()
    },
    mayCreate: ({ assignmentId, owner }) =>
      closedBut === undefined || closedBut.has(assignmentId) || closedBut.has(owner),
    settled,
    close,
  }
}

/**
 * The assignments that were present when the node got its role, and their owners. An agent from before owners were saved
 * saved assignments only; their owners are added as long as the assignments are present.
 */
function exceptionsOf(before: ReadonlySet<string> | undefined, present: Iterable<OwnedItem>): Set<string> {
  const known = [...present].filter(({ assignmentId }) => before?.has(assignmentId) !== false)
  return new Set([...(before ?? []), ...known.flatMap(({ assignmentId, owner }) => [assignmentId, owner])])
}
