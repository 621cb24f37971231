// Decides whose log is kept: that of a container that exited without an order, that of a container which is removed
// although it was not ready, and that of every container of a job.

import { type AssignmentId, defined } from '@holdfast/contract'
import { afterRun, betweenRuns, type ReplicaView, runsOnce, type SeenContainer } from '@holdfast/core/node'
import type { KeptLogs } from '../streams/kept-logs.ts'
import type { ReplicaStatusTable } from './replica-status-table.ts'

const EXPIRE_MS = 60_000

export interface FailedLogs {
  /** Keeps the log of a run that ended. `before`: the container as it was seen before. Call after the inspection. */
  onExit(id: AssignmentId, containerId: string, before: SeenContainer | undefined): void
  /**
   * Called before a container is stopped and removed. Returns a function that keeps its log once it has stopped, or
   * undefined if the container was ready and its log is not needed.
   */
  beforeRemoval(id: AssignmentId, containerId: string): (() => Promise<unknown>) | undefined
  close(): void
}

export function createFailedLogs(
  kept: KeptLogs,
  jobLogs: Pick<KeptLogs, 'keep' | 'expire'>,
  statuses: ReplicaStatusTable,
): FailedLogs {
  const isWaiting = (id: AssignmentId): boolean => {
    const view = statuses.view(id)
    return view?.item.desired === 'running' && !isReadyRun(view)
  }
  const timer = setInterval(() => {
    for (const logs of [kept, jobLogs]) void logs.expire(isWaiting)
  }, EXPIRE_MS).unref()
  function keepExited(id: AssignmentId, containerId: string, before: SeenContainer | undefined): void {
    const view = statuses.view(id)
    const container = view?.container
    if (typeof container !== 'object' || container.id !== containerId) return
    if (view === undefined || view.item.desired !== 'running' || view.activity === 'stopping') return
    const previous = before?.lastExit?.at
    const since = previous && (betweenRuns(previous, before?.startedAt ?? null) ?? afterRun(previous))
    const endedAt = container.lastExit?.at
    if (runsOnce(view.item.template)) {
      void jobLogs.keep({ item: view.item, containerId })
      return
    }
    void kept.keep({ item: view.item, containerId, ...defined({ since, endedAt }) })
  }
  return {
    onExit: keepExited,
    beforeRemoval(id, containerId) {
      const view = statuses.view(id)
      const container = view?.container
      if (view === undefined) return undefined
      if (runsOnce(view.item.template)) return () => jobLogs.keep({ item: view.item, containerId })
      if (typeof container !== 'object' || container.id !== containerId) return undefined
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
