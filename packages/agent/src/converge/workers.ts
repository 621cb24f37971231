// The actions of a plan, carried out beside one another: one piece of work per assignment at a time, and so many at once as
// the engine carries. Whoever waits for the environment of a container keeps no other from the engine meanwhile (SAFETY 4e).

import type { AssignmentId, DesiredItem } from '@holdfast/contract'
import { type NodeAction, needsEnvironment, SECRET_UNRESOLVED } from '@holdfast/core/node'
import type { Logger } from 'pino'
import { EngineError } from '../ports/engine.ts'
import { NoSessionError, type Session } from '../ports/session.ts'
import { createLimit } from './limit.ts'
import { ActionError, type PerformDeps, perform, prepare } from './perform.ts'
import type { FailureKind, RetryBackoff } from './retry-backoff.ts'

const ENDS_AT_ONCE = 16
const ASKED_AT_ONCE = 16

export interface WorkerDeps extends PerformDeps, Pick<Session, 'containerEnvironment'> {
  readonly desired: ReadonlyMap<AssignmentId, DesiredItem>
  readonly setbacks: RetryBackoff
  /** Creates and starts at once; beyond two for each core they only take longer. */
  readonly concurrency: number
  /** There may be more to do about it. */
  onMore(id: AssignmentId): void
  /** There is more to do after so many milliseconds. */
  onLater(afterMs: number): void
  readonly log: Logger
}

export interface Workers {
  run(action: NodeAction): void
  workedOn(): Set<AssignmentId>
  /** Something changed about it: there is more to do when the work on it has ended well. False where there is none. */
  noteChange(id: AssignmentId): boolean
  /** What is under way is waited for. */
  close(): Promise<void>
}

type Create = Extract<NodeAction, { readonly kind: 'create' }>

export function createWorkers(deps: WorkerDeps): Workers {
  const { board, setbacks, log } = deps
  const busy = new Map<AssignmentId, Promise<void>>()
  const changed = new Set<AssignmentId>()
  const making = createLimit(deps.concurrency)
  const ending = createLimit(ENDS_AT_ONCE)
  const asking = createLimit(ASKED_AT_ONCE)
  let closed = false

  function succeed(id: AssignmentId, action: NodeAction): void {
    setbacks.clear(id)
    board.update(id, { trouble: '', about: '' })
    log.info({ assignment: id, action: action.kind }, 'done')
    const isChanged = changed.delete(id)
    const wish = deps.desired.get(id)?.desired ?? 'removed'
    if (action.kind === 'remove' && action.item?.desired === 'removed' && wish === 'removed') return
    // What was removed to make room is made in the next pass, and a wish that changed meanwhile is seen there.
    if (isChanged || action.kind === 'remove' || action.item.desired !== wish) deps.onMore(id)
  }
  function fail(id: AssignmentId, action: NodeAction, error: unknown): void {
    const told = error instanceof ActionError ? error : undefined
    changed.delete(id)
    const retryMs = setbacks.note(id, kindOf(error))
    if (told !== undefined) board.update(id, { trouble: told.reason, about: told.about })
    const reason = told?.reason
    log.warn(
      { assignment: id, action: action.kind, reason, message: wordsOf(action, error), retryMs },
      'failed',
    )
    if (Number.isFinite(retryMs)) deps.onLater(retryMs)
  }
  /** The environment is asked for when nothing else is missing, and is known to nobody but this one create. */
  async function createAsked(action: Create): Promise<void> {
    await making(() => prepare(deps, action.item))
    const answer = await asking(() => deps.containerEnvironment(action.item.assignmentId))
    if (answer.kind === 'unresolved')
      throw new ActionError(SECRET_UNRESOLVED, new Error(answer.about), { about: answer.about })
    await making(() => perform(deps, action, answer))
  }
  function carryOut(action: NodeAction): Promise<void> {
    if (action.kind === 'create' && needsEnvironment(action.item)) return createAsked(action)
    const limit = action.kind === 'create' || action.kind === 'start' ? making : ending
    return limit(() => perform(deps, action))
  }
  return {
    run(action) {
      if (closed) return
      const id = action.kind === 'remove' ? action.assignmentId : action.item.assignmentId
      if (action.kind === 'create') board.update(id, { creating: true })
      const work = carryOut(action)
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
    noteChange: (id) => busy.has(id) && changed.add(id).has(id),
    async close() {
      closed = true
      await Promise.allSettled(busy.values())
    },
  }
}

function kindOf(error: unknown): FailureKind {
  if (error instanceof NoSessionError) return 'environment'
  if (!(error instanceof ActionError)) return 'other'
  if (error.final) return 'final'
  return error.reason === SECRET_UNRESOLVED ? 'environment' : 'other'
}

/** What an engine says of a container may quote its environment: of one with secrets only the kind of failure is told. */
function wordsOf(action: NodeAction, error: unknown): string {
  const cause = error instanceof ActionError ? error.cause : error
  const quotes = action.item !== undefined && needsEnvironment(action.item) && cause instanceof EngineError
  if (quotes) return `The engine said: ${cause.fault}.`
  return error instanceof Error ? error.message : String(error)
}
