// The actions of a plan, carried out beside one another: one piece of work per assignment at a time, and so many at once as
// the engine carries.

import type { AssignmentId, DesiredItem } from '@holdfast/contract'
import type { NodeAction } from '@holdfast/core/reconcile'
import type { Logger } from 'pino'
import { createLimit } from './limit.ts'
import { ActionError, type PerformDeps, perform } from './perform.ts'
import type { Setbacks } from './setbacks.ts'

const ENDS_AT_ONCE = 16

export interface WorkerDeps extends PerformDeps {
  readonly desired: ReadonlyMap<AssignmentId, DesiredItem>
  readonly setbacks: Setbacks
  /** Creates and starts at once; beyond two for each core they only take longer. */
  readonly concurrency: number
  /** There may be more to do, after so many milliseconds. */
  onMore(afterMs: number): void
  readonly log: Logger
}

export interface Workers {
  run(action: NodeAction): void
  workedOn(): Set<AssignmentId>
  /** What is under way is waited for. */
  close(): Promise<void>
}

export function createWorkers(deps: WorkerDeps): Workers {
  const { board, setbacks, log } = deps
  const busy = new Map<AssignmentId, Promise<void>>()
  const making = createLimit(deps.concurrency)
  const ending = createLimit(ENDS_AT_ONCE)
  let closed = false

  function succeed(id: AssignmentId, action: NodeAction): void {
    setbacks.clear(id)
    board.update(id, { trouble: '' })
    log.info({ assignment: id, action: action.kind }, 'done')
    // What was removed to make room is made in the next pass, and a wish that changed meanwhile is seen there.
    if (action.kind === 'remove' || action.item.desired !== deps.desired.get(id)?.desired) deps.onMore(0)
  }
  function fail(id: AssignmentId, action: NodeAction, error: unknown): void {
    const told = error instanceof ActionError ? error : undefined
    const retryMs = setbacks.note(id, told?.final === true)
    if (told !== undefined) board.update(id, { trouble: told.reason })
    const message = error instanceof Error ? error.message : String(error)
    log.warn({ assignment: id, action: action.kind, reason: told?.reason, message, retryMs }, 'failed')
    if (Number.isFinite(retryMs)) deps.onMore(retryMs)
  }
  return {
    run(action) {
      if (closed) return
      const id = action.kind === 'remove' ? action.assignmentId : action.item.assignmentId
      if (action.kind === 'create') board.update(id, { making: true })
      const limit = action.kind === 'create' || action.kind === 'start' ? making : ending
      const work = limit(() => perform(deps, action))
        .finally(() => {
          busy.delete(id)
          board.update(id, { activity: undefined })
        })
        .then(
          () => succeed(id, action),
          (error: unknown) => fail(id, action, error),
        )
      busy.set(id, work)
    },
    workedOn: () => new Set(busy.keys()),
    async close() {
      closed = true
      await Promise.allSettled(busy.values())
    },
  }
}
