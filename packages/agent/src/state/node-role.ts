// Decides whether this node may create containers. On a node that runs the control plane only the platform's own
// workloads may be created: the scheduler places no others, and the agent rejects others. Containers of assignments from
// before the node had this role may be recreated. See docs/design/liveness.md#control-plane-nodes.

import type { AssignmentId } from '@holdfast/contract'
import type { Logger } from 'pino'
import { type NodeState, saveClosedBut } from './node-state.ts'

/** The node's role as the server reports it at the start of a session; absent fields change nothing. */
export interface ReportedRole {
  readonly controlPlane?: boolean
  readonly platform?: boolean
}

export interface NodeRole {
  /** Applies the reported role. `present`: the assignments that this node had before the session. */
  apply(reported: ReportedRole, present: Iterable<AssignmentId>): void
  mayCreate(id: AssignmentId): boolean
  /** Resolves when the node's role is on disk. */
  settled(): Promise<void>
}

export function createNodeRole(folder: string, state: Pick<NodeState, 'closedBut'>, log: Logger): NodeRole {
  let closedBut = state.closedBut === undefined ? undefined : new Set<string>(state.closedBut)
  let writing = Promise.resolve()
  const save = (): void => {
    const saved = closedBut === undefined ? undefined : [...closedBut]
    writing = writing
      .then(() => saveClosedBut(folder, saved))
      .catch((error: unknown) => log.error({ message: String(error) }, 'node role write failed'))
  }
  return {
    apply({ controlPlane, platform }, present) {
      if (controlPlane === undefined) return
      const isClosed = controlPlane && platform !== true
      if (isClosed === (closedBut !== undefined)) return
      closedBut = isClosed ? new Set(present) : undefined
      log.info({ isClosed }, 'control plane role of this node changed')
      save()
    },
    mayCreate: (id) => closedBut === undefined || closedBut.has(id),
    settled: () => writing,
  }
}
