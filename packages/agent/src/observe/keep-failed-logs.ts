// Decides whose log is kept: that of a container that exited without an order, and that of a container which is removed
// although it was not ready. The last line also shows when the runtime could not execute the program at all.

import type { AssignmentId } from '@holdfast/contract'
import { explainRuntimeLine, type ReplicaView } from '@holdfast/core/node'
import type { KeptLogs } from '../streams/kept-logs.ts'
import type { ReplicaStatusTable } from './replica-status-table.ts'

const EXPIRE_MS = 60_000

export interface FailedLogs {
  /** Keeps the log of a run that ended. `startedAt`: start of that run, if it is known. Call after the inspection. */
  onExit(id: AssignmentId, containerId: string, startedAt: string | null): void
  /**
   * Called before a container is stopped and removed. Returns a function that keeps its log once it has stopped, or
   * undefined if the container was ready and its log is not needed.
   */
  beforeRemoval(id: AssignmentId, containerId: string): (() => Promise<unknown>) | undefined
  close(): void
}

export function createFailedLogs(kept: KeptLogs, statuses: ReplicaStatusTable): FailedLogs {
  const isWaiting = (id: AssignmentId): boolean => {
    const view = statuses.view(id)
    return view?.item.desired === 'running' && !isReadyRun(view)
  }
  const timer = setInterval(() => void kept.expire(isWaiting), EXPIRE_MS).unref()
  async function keepExited(id: AssignmentId, containerId: string, startedAt: string | null): Promise<void> {
    const view = statuses.view(id)
    const container = view?.container
    if (typeof container !== 'object' || container.id !== containerId) return
    if (view === undefined || view.item.desired !== 'running' || view.activity === 'stopping') return
    const isLaterRun = container.state === 'running' && container.startedAt !== startedAt
    const lines = await kept.keep({
      item: view.item,
      containerId,
      ...(startedAt === null ? {} : { since: startedAt }),
      ...(isLaterRun && container.startedAt !== null ? { until: container.startedAt } : {}),
    })
    const text = explainRuntimeLine(lines.at(-1)?.line ?? '', process.arch)
    const at = container.lastExit?.at
    if (text !== undefined && at !== undefined) statuses.update(id, { exitCause: { at, text } })
  }
  return {
    onExit: (id, containerId, startedAt) => void keepExited(id, containerId, startedAt),
    beforeRemoval(id, containerId) {
      const view = statuses.view(id)
      const container = view?.container
      if (view === undefined || typeof container !== 'object' || container.id !== containerId)
        return undefined
      if (container.startedAt === null || isReadyRun(view)) return undefined
      return () => kept.keep({ item: view.item, containerId })
    },
    close: () => clearInterval(timer),
  }
}

/** Whether the container's last start was ready and is not unhealthy. */
function isReadyRun({ container, readySince }: ReplicaView): boolean {
  if (typeof container !== 'object') return false
  return (
    container.startedAt !== null && readySince === container.startedAt && container.health !== 'unhealthy'
  )
}
