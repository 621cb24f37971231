// Delays the restarts of containers that the engine does not restart, as the engine would delay them.

import type { AssignmentId, DesiredItem } from '@holdfast/contract'
import {
  isFencedExit,
  isStartedByAgent,
  type NodeAction,
  type OwnContainer,
  restartDelay,
} from '@holdfast/core/node'
import type { ReplicaStatusTable } from '../observe/replica-status-table.ts'

/** The list of containers may show an exit before the inspection does, from which the delay is computed. */
const INSPECTION_MS = 250

interface Exit {
  readonly containerId: string
  readonly at: string
  readonly delayMs: number
  readonly dueMs: number
}

export interface RestartBackoff {
  /** The time until the agent may start the container; 0 if it may start it now. */
  dueInMs(item: DesiredItem, container: OwnContainer): number
  /** The actions without starts that are not due yet. Calls `wakeIn` with the time until each of those is. */
  due(actions: readonly NodeAction[], wakeIn: (ms: number) => void): NodeAction[]
}

export function createRestartBackoff(
  statuses: Pick<ReplicaStatusTable, 'view'>,
  monotonicMs: () => number,
): RestartBackoff {
  const exits = new Map<AssignmentId, Exit>()
  const forgetGone = (): void => {
    for (const id of exits.keys()) if (statuses.view(id) === undefined) exits.delete(id)
  }
  const dueInMs: RestartBackoff['dueInMs'] = ({ assignmentId, template }, { id: containerId, state }) => {
    if (!isStartedByAgent(template) || state !== 'exited') return 0
    const view = statuses.view(assignmentId)
    const seen = view?.container
    if (typeof seen !== 'object' || seen.id !== containerId || seen.state !== 'exited') return INSPECTION_MS
    const at = seen.lastExit?.at
    // The start waits for the next lease already.
    if (at === undefined || isFencedExit(view?.exitCause, at)) return 0
    const known = exits.get(assignmentId)
    const before = known?.containerId === containerId ? known : undefined
    if (before?.at === at) return Math.max(0, before.dueMs - monotonicMs())
    forgetGone()
    const delayMs = restartDelay(before?.delayMs, { startedAt: seen.startedAt, finishedAt: at })
    exits.set(assignmentId, { containerId, at, delayMs, dueMs: monotonicMs() + delayMs })
    return delayMs
  }
  return {
    dueInMs,
    due: (actions, wakeIn) =>
      actions.filter((action) => {
        const waitMs = action.kind === 'start' ? dueInMs(action.item, action.container) : 0
        if (waitMs > 0) wakeIn(waitMs)
        return waitMs === 0
      }),
  }
}
