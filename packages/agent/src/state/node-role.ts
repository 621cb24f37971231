// May this node make something new? Where the control plane runs only the platform's own work may: the scheduler keeps to
// that, and the agent does not take its word for it. What was here before the node got that role may be made again.
// SPEC 3 rule 2, DECISIONS 5, SAFETY 2 row 30.

import type { AssignmentId } from '@holdfast/contract'
import type { Logger } from 'pino'
import { keepClosed, type NodeState } from './node-state.ts'

/** Of the welcome; absent where an older server says nothing of it: then it is as it was. */
export interface SaidRole {
  readonly controlPlane?: boolean
  readonly platform?: boolean
}

export interface NodeRole {
  /** `present`: the assignments that this node had before the session. */
  take(said: SaidRole, present: Iterable<AssignmentId>): void
  mayMake(id: AssignmentId): boolean
  /** What was said last is on the disk. */
  settled(): Promise<void>
}

export function createNodeRole(folder: string, state: Pick<NodeState, 'closedBut'>, log: Logger): NodeRole {
  let closedBut = state.closedBut === undefined ? undefined : new Set<string>(state.closedBut)
  let writing = Promise.resolve()
  const keep = (): void => {
    const kept = closedBut === undefined ? undefined : [...closedBut]
    writing = writing
      .then(() => keepClosed(folder, kept))
      .catch((error: unknown) => log.error({ message: String(error) }, 'the role of the node is not kept'))
  }
  return {
    take({ controlPlane, platform }, present) {
      if (controlPlane === undefined) return
      const isClosed = controlPlane && platform !== true
      if (isClosed === (closedBut !== undefined)) return
      closedBut = isClosed ? new Set(present) : undefined
      log.info({ isClosed }, 'the control plane runs here, or does no more')
      keep()
    },
    mayMake: (id) => closedBut === undefined || closedBut.has(id),
    settled: () => writing,
  }
}
