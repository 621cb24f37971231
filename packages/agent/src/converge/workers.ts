// Runs the actions of a plan concurrently: one action per assignment at a time, and in total no more than Docker can
// handle. An action that waits for its environment from the server blocks no other action.

import { type AssignmentId, cleanCause, type DesiredItem } from '@holdfast/contract'
import {
  isCauseOfNode,
  type NodeAction,
  needsEnvironment,
  type ResolvedEnvironment,
  SECRET_UNRESOLVED,
  VOLUME_NOT_LEASED,
  VOLUME_NOT_MOUNTED,
  writtenVolumes,
} from '@holdfast/core/node'
import type { Logger } from 'pino'
import type { ViewChange } from '../observe/replica-status-table.ts'
import { EngineError, isFault } from '../ports/engine.ts'
import { NoSessionError, type Session } from '../ports/session.ts'
import { ActionError } from './action-error.ts'
import { createLimit } from './limit.ts'
import { type PerformDeps, perform, prepare, withoutSecrets } from './perform.ts'
import type { FailureKind, RetryBackoff } from './retry-backoff.ts'

const MAX_REMOVALS = 16
const MAX_ENVIRONMENT_CALLS = 16

export interface WorkerDeps extends PerformDeps, Pick<Session, 'containerEnvironment'> {
  readonly desired: ReadonlyMap<AssignmentId, DesiredItem>
  readonly backoff: RetryBackoff
  /** Number of creates and starts that may run concurrently. */
  readonly concurrency: number
  /** Requests another pass of the convergence loop for this assignment. */
  requeue(id: AssignmentId): void
  /** Requests a pass of the convergence loop over all assignments after this time. */
  requeueIn(afterMs: number): void
  readonly log: Logger
}

export interface Workers {
  run(action: NodeAction): void
  inProgress(): Set<AssignmentId>
  /** Requeues the assignment when its action in progress succeeds. Returns false if no action is in progress. */
  requeueWhenDone(id: AssignmentId): boolean
  /** Starts no further actions and waits for the actions in progress. */
  close(): Promise<void>
}

type Create = Extract<NodeAction, { readonly kind: 'create' }>

export function createWorkers(deps: WorkerDeps): Workers {
  const { statuses, backoff, log } = deps
  const busy = new Map<AssignmentId, Promise<void>>()
  const changed = new Set<AssignmentId>()
  const starts = createLimit(deps.concurrency)
  const removals = createLimit(MAX_REMOVALS)
  const environmentCalls = createLimit(MAX_ENVIRONMENT_CALLS)
  let closed = false

  function succeed(id: AssignmentId, action: NodeAction): void {
    backoff.clear(id)
    statuses.update(id, { trouble: '', about: '', cause: '', attempts: 0 })
    log.info({ assignment: id, action: action.kind }, 'action succeeded')
    const isChanged = changed.delete(id)
    if (action.kind === 'remove' && wroteVolumes(action)) deps.requeueIn(0)
    if (needsAnotherPass(action, deps.desired.get(id)?.desired ?? 'removed', isChanged)) deps.requeue(id)
  }
  function fail(id: AssignmentId, action: NodeAction, error: unknown): void {
    const failure = error instanceof ActionError ? error : undefined
    changed.delete(id)
    const kind = failureKind(error)
    const retryMs = backoff.recordFailure(id, kind)
    if (failure !== undefined)
      statuses.update(id, { ...troubleOf(failure, backoff.failuresOf(id)), isOfNode: kind === 'node' })
    const about = { reason: failure?.reason, message: safeMessage(action, error), retryMs }
    log.warn({ assignment: id, action: action.kind, ...about }, 'action failed')
    if (Number.isFinite(retryMs)) deps.requeueIn(retryMs)
  }
  /** Creates a container. The environment is fetched last, so that secret values are in memory only during the create. */
  async function createWithEnvironment(action: Create): Promise<void> {
    await starts(() => prepare(deps, action.item))
    const answer = await environmentCalls(() => deps.containerEnvironment(action.item.assignmentId))
    if (answer.kind === 'unresolved')
      throw new ActionError(SECRET_UNRESOLVED, new Error(answer.about), { about: answer.about })
    await starts(() => performWithSecrets(deps, action, answer))
  }
  function carryOut(action: NodeAction): Promise<void> {
    if (action.kind === 'create' && needsEnvironment(action.item)) return createWithEnvironment(action)
    const limit = action.kind === 'create' || action.kind === 'start' ? starts : removals
    return limit(() => perform(deps, action))
  }
  return {
    run(action) {
      if (closed) return
      const id = action.kind === 'remove' ? action.assignmentId : action.item.assignmentId
      if (action.kind === 'create') statuses.update(id, { creating: true })
      const work = carryOut(action)
        .finally(() => {
          busy.delete(id)
          statuses.update(id, { activity: undefined })
        })
        .then(
          () => succeed(id, action),
          (error: unknown) => fail(id, action, error),
        )
      busy.set(id, work)
    },
    inProgress: () => new Set(busy.keys()),
    requeueWhenDone(id) {
      if (!busy.has(id)) return false
      changed.add(id)
      return true
    },
    async close() {
      closed = true
      await Promise.allSettled(busy.values())
    },
  }
}

/** After a change, and after a removal unless the assignment is gone, so that the next pass creates the replacement. */
function needsAnotherPass(action: NodeAction, wanted: DesiredItem['desired'], isChanged: boolean): boolean {
  if (action.kind !== 'remove') return isChanged || action.item.desired !== wanted
  return action.item?.desired !== 'removed' || wanted !== 'removed'
}

/** Whether the action removed a writer, whose cgroup is removed after the next full list. An orphan may be one. */
const wroteVolumes = ({ item }: Extract<NodeAction, { readonly kind: 'remove' }>): boolean =>
  item !== undefined && writtenVolumes(item.template).length > 0

async function performWithSecrets(
  deps: PerformDeps,
  action: Create,
  resolved: ResolvedEnvironment,
): Promise<void> {
  try {
    await perform(deps, action, resolved)
  } catch (error) {
    const environment = Object.entries(resolved.environment).map(([name, value]) => `${name}=${value}`)
    throw withoutSecrets(error, action.item, environment)
  }
}

/** A failed action as the replica's status shows it, with the engine's error as one bounded line. */
const troubleOf = ({ reason, about, cause }: ActionError, attempts: number): ViewChange => ({
  trouble: reason,
  about,
  attempts,
  cause: cause instanceof EngineError ? cleanCause(cause.message) : '',
})

/** An engine that does not answer has refused nothing, so its silence must not count as failed starts. */
export function failureKind(error: unknown): FailureKind {
  if (error instanceof NoSessionError) return 'environment'
  if (isFault(error, 'unavailable', 'timeout')) return 'engine'
  if (!(error instanceof ActionError)) return 'other'
  if (error.final) return 'final'
  if (error.reason === VOLUME_NOT_MOUNTED) return 'volume'
  if (error.reason === VOLUME_NOT_LEASED) return 'lease'
  if (error.reason === SECRET_UNRESOLVED) return 'environment'
  return isOfNode(error) ? 'node' : 'other'
}

function isOfNode({ reason, cause }: ActionError): boolean {
  if (!(cause instanceof EngineError)) return reason === 'network_failed'
  return isCauseOfNode({ reason, fault: cause.fault, message: cause.message })
}

/**
 * An error message that may be logged. For a container with secrets it is only the kind of the engine's fault: Docker's
 * own message may quote the environment, and logs of agents are read by others than the tenant.
 */
function safeMessage(action: NodeAction, error: unknown): string {
  const cause = error instanceof ActionError ? error.cause : error
  const mayQuote = action.item !== undefined && needsEnvironment(action.item) && cause instanceof EngineError
  if (mayQuote) return `engine fault: ${cause.fault}`
  return error instanceof Error ? error.message : String(error)
}
