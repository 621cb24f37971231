// Decides whose log is kept: that of a container that exited without an order, that of a container which is removed
// although it was not ready, and that of every container of a job.

import { type AssignmentId, defined } from '@holdfast/contract'
import { afterRun, betweenRuns, type ReplicaView, runsOnce, type SeenContainer } from '@holdfast/core/node'
import type { Logger } from 'pino'
import { isFault } from '../ports/engine.ts'
import type { KeepRequest, KeptLogs } from '../streams/kept-logs.ts'
import type { ReplicaStatusTable } from './replica-status-table.ts'

const EXPIRE_MS = 60_000
/** A job's container is kept this long for its log; then its next attempt and its node wait no longer. */
const MAX_UNKEPT_MS = 10 * 60_000

export interface FailedLogs {
  /** Keeps the log of a run that ended. `before`: the container as it was seen before. Call after the inspection. */
  onExit(id: AssignmentId, containerId: string, before: SeenContainer | undefined): void
  /**
   * Called before a container is stopped and removed. Returns a function that keeps its log once it has stopped, or
   * undefined if the container was ready and its log is not needed. The function rejects if the container must stay,
   * because it has the only copy of a job's log.
   */
  beforeRemoval(id: AssignmentId, containerId: string): (() => Promise<unknown>) | undefined
  close(): void
}

export interface FailedLogDeps {
  readonly statuses: Pick<ReplicaStatusTable, 'view'>
  /** A monotonic clock in milliseconds. */
  monotonicMs(): number
  readonly log: Logger
}

export function createFailedLogs(
  kept: KeptLogs,
  jobLogs: Pick<KeptLogs, 'keep' | 'expire'>,
  { statuses, monotonicMs, log }: FailedLogDeps,
): FailedLogs {
  const keepJob = createJobLogKeeper(jobLogs, monotonicMs, log)
  const keepIfPossible = (logs: Pick<KeptLogs, 'keep'>, request: KeepRequest): Promise<void> =>
    logs.keep(request).catch((error: unknown) => {
      const facts = { assignment: request.item.assignmentId, message: String(error) }
      log.warn(facts, 'log of a container was not kept')
    })
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
      void keepIfPossible(jobLogs, { item: view.item, containerId })
      return
    }
    void keepIfPossible(kept, { item: view.item, containerId, ...defined({ since, endedAt }) })
  }
  return {
    onExit: keepExited,
    beforeRemoval(id, containerId) {
      const view = statuses.view(id)
      const container = view?.container
      if (view === undefined) return undefined
      if (runsOnce(view.item.template)) return () => keepJob({ item: view.item, containerId })
      if (typeof container !== 'object' || container.id !== containerId) return undefined
      if (container.startedAt === null || isReadyRun(view)) return undefined
      return () => keepIfPossible(kept, { item: view.item, containerId })
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

/**
 * Keeps the log of a job before its container is removed. Rejects for ten minutes if that fails, so that the removal is
 * retried, and then gives the log up: the job could not end otherwise.
 */
function createJobLogKeeper(
  jobLogs: Pick<KeptLogs, 'keep'>,
  monotonicMs: () => number,
  log: Logger,
): (request: KeepRequest) => Promise<void> {
  const failingSince = new Map<string, number>()
  return async (request) => {
    const { containerId } = request
    try {
      await jobLogs.keep(request)
      failingSince.delete(containerId)
    } catch (error) {
      const sinceMs = failingSince.get(containerId) ?? monotonicMs()
      // A container that another program has marked for removal is in conflict, and its log cannot be read again.
      const isOver = monotonicMs() - sinceMs >= MAX_UNKEPT_MS || isFault(error, 'conflict')
      if (isOver || isFault(error, 'not_found')) failingSince.delete(containerId)
      else failingSince.set(containerId, sinceMs)
      if (!isOver) throw error
      const facts = { assignment: request.item.assignmentId, message: String(error) }
      log.error(facts, 'log of a job could not be kept, its container is removed without it')
    }
  }
}
