// Derives the observation that the agent reports for one assignment, only from what the engine reported. States only move
// forward: a replica that was ready and no longer serves keeps the state `ready` and gets a reason. A replica serves
// exactly when its state is `ready` and its reason is empty. See docs/design/agent.md#observations.

import {
  type DesiredItem,
  defined,
  type LastExit,
  type Observation,
  type ReplicaState,
} from '@holdfast/contract'
import { isStartedByAgent, runsOnce } from './container-mounts.ts'
import { MOST_NODE_FAILURES } from './node-cause.ts'
import type { ContainerState } from './plan-node.ts'

/** Health checks that failed in a row, and the output of the last one, as one bounded line without secret values. */
export interface FailedChecks {
  readonly count: number
  readonly output: string
}

/** A container as the engine last reported it. */
export interface SeenContainer {
  readonly id: string
  readonly state: ContainerState
  readonly startedAt: string | null
  readonly exitCode: number | null
  /** True if the container has ended and no engine saw how, so its exit code is unknown. */
  readonly isEndUnknown?: boolean | undefined
  readonly restarts: number
  /** The result of Docker's health check; `none` for a container without a health check. */
  readonly health: 'none' | 'starting' | 'healthy' | 'unhealthy'
  /** The engine's own failed health checks of this run. */
  readonly failedChecks?: FailedChecks | undefined
  /** How the last run that ended did so; absent if none ended, or its exit code is unknown. */
  readonly lastExit?: LastExit | undefined
  /** Why the last run could not start or failed at once, by the engine or by the agent's own judgment. */
  readonly cause?: string | undefined
  /** The container's IP address on the tenant's network; null while the container has no address. */
  readonly address: string | null
  /** The id of the container's first process on the machine; absent while none runs. */
  readonly pid?: number | undefined
  /**
   * The container's proof label, which proves the secret versions that it was created with. Only for a container with
   * secrets.
   */
  readonly proof?: string | undefined
}

export interface ExitCause {
  readonly at: string
  readonly text: string
  /** The run was killed because this node's lease of a volume ended, which is no failure of the container. */
  readonly isFenced?: boolean
}

/** Whether the run that ended at this time was killed with its lease. */
export const isFencedExit = (cause: ExitCause | undefined, at: string | undefined): boolean =>
  cause?.isFenced === true && cause.at === at

export interface ReplicaView {
  readonly item: DesiredItem
  /**
   * `unknown` until the engine's containers have been listed; `absent` if the list did not include the assignment's
   * container.
   */
  readonly container: SeenContainer | 'unknown' | 'absent'
  /** The agent's action in progress for the assignment. */
  readonly activity: 'pulling' | 'starting' | 'stopping' | undefined
  /** True if a container may have been created since the engine was last listed: `absent` then proves nothing. */
  readonly creating: boolean
  /** Why the agent's last action for the assignment failed; empty if the last action succeeded. */
  readonly trouble: string
  /** Explains `trouble`: the unavailable secret and the cause, or the capabilities that the agent lacks; else empty. */
  readonly about: string
  /** The engine's error behind `trouble`, as one bounded line without secret values; else empty. */
  readonly cause: string
  /** How often in a row the action failed to which `trouble` refers; absent or 0 if it succeeded. */
  readonly attempts?: number
  /** Whether these attempts failed for a cause of the node. */
  readonly isOfNode?: boolean
  /** The agent's own health checks that failed since this start of the container. */
  readonly probes?: (FailedChecks & { readonly startedAt: string }) | undefined
  /** Why the run that ended at this time could not execute its program or was killed, if that is known. */
  readonly exitCause?: ExitCause | undefined
  /** True if the container was already running when the agent started, and its readiness is not verified yet. */
  readonly unverified: boolean
  /**
   * Start time of the container at the moment when it became ready: its health check passed, or it ran for five seconds.
   * After a restart the start time differs, so the container is not ready.
   */
  readonly readySince: string | undefined
  /** True if a container of the assignment that runs once was started before on this node. */
  readonly hasRun?: boolean
}

/** An observation that has no sequence number yet. */
export type UnnumberedObservation = Omit<Observation, 'seq'>

/** The order of replica states: a report never goes from a later state back to an earlier one. */
const ORDER: readonly ReplicaState[] = [
  'pulling',
  'starting',
  'running',
  'ready',
  'stopping',
  'stopped',
  'failed',
]

/** Returns undefined if the agent has not seen enough to report a state of the replica. */
export function observeReplica(
  view: ReplicaView,
  before: Observation | undefined,
): UnnumberedObservation | undefined {
  const seen = currentState(view)
  if (seen === undefined) return undefined
  // The end of a job stays known if another program removes its container afterwards.
  if (seen.reason === CONTAINER_LOST && before?.state === 'stopped' && before.containerId !== null)
    return { ...before, generation: seen.generation }
  return moveForward(before, seen)
}

function currentState(view: ReplicaView): UnnumberedObservation | undefined {
  const { container, item, activity } = view
  if (typeof container === 'object') return observeContainer(view, container)
  // A failed create is ignored once the item is no longer desired. Otherwise the assignment would never be reported as
  // gone.
  const trouble = item.desired === 'running' ? view.trouble : ''
  const restarts = failedStarts(view, trouble)
  const nothing = { ...identity(item), containerId: null, startedAt: null, exitCode: null, restarts }
  if (activity === 'pulling' || trouble === 'image_pull_failed')
    return { ...nothing, state: 'pulling', reason: trouble, gone: false, ...causeOf(view, trouble) }
  if (trouble === 'refused_by_agent' || trouble === AGENT_VERSION)
    return { ...nothing, state: 'failed', reason: trouble, gone: false, ...aboutOf(view, trouble) }
  // The container was removed by another program. It ran, or may have run, so it is not created again.
  if (view.hasRun === true && container === 'absent' && !view.creating && item.desired !== 'removed')
    return { ...nothing, state: 'stopped', reason: CONTAINER_LOST, gone: false }
  const explained = { ...aboutOf(view, trouble), ...causeOf(view, trouble) }
  if (activity === 'starting' || trouble !== '')
    return { ...nothing, state: 'starting', reason: trouble, gone: false, ...explained }
  if (container === 'unknown' || view.creating || item.desired === 'running') return undefined
  return { ...nothing, state: 'stopped', reason: '', gone: item.desired === 'removed' }
}

/** The end of a job's container is unknown: the container is gone, or its engine did not see the end. */
export const CONTAINER_LOST = 'container_lost'

/** Whether a replica serves. A replica that was ready and no longer serves keeps the state `ready`, but has a reason. */
export const isReady = (seen: Pick<Observation, 'state' | 'reason'> | undefined): boolean =>
  seen?.state === 'ready' && seen.reason === ''

/** The container was killed because this node's lease of a volume ended. It starts again under the next lease. */
export const FENCED = 'fenced'

/** Reasons of a container that does not run, although its replica may have been running or ready before. */
const DOWN_REASONS: ReadonlySet<string> = new Set([
  'exited',
  FENCED,
  'removed',
  'create_failed',
  'start_failed',
  'volume_not_mounted',
  'volume_not_leased',
])
const UP_STATES: readonly ReplicaState[] = ['running', 'ready', 'stopping']

/** Whether the container of a replica runs. A container that waits for its restart keeps its state, with a reason. */
export const isUp = ({ state, reason }: Pick<Observation, 'state' | 'reason'>): boolean =>
  UP_STATES.includes(state) && !DOWN_REASONS.has(reason)

export const SECRET_UNRESOLVED = 'secret_unresolved'
/** The agent lacks a capability that the container needs, so it creates no container. */
export const AGENT_VERSION = 'agent_version'
/** A volume of the container cannot be mounted on this node now, so the container is not started. */
export const VOLUME_NOT_MOUNTED = 'volume_not_mounted'
/** This node must not write a volume of the container now, so the container is not started. */
export const VOLUME_NOT_LEASED = 'volume_not_leased'

const EXPLAINED: readonly string[] = [SECRET_UNRESOLVED, AGENT_VERSION, VOLUME_NOT_MOUNTED, VOLUME_NOT_LEASED]

const aboutOf = ({ about }: ReplicaView, reason: string): { about?: string } =>
  EXPLAINED.includes(reason) && about !== '' ? { about } : {}

/** The engine's error behind a reported trouble, and whether it belongs to the node. Without trouble there is none. */
const causeOf = (view: ReplicaView, reason: string): Pick<Observation, 'cause' | 'nodeFailures'> => ({
  ...(reason !== '' && view.cause !== '' ? { cause: view.cause } : {}),
  ...failuresOfNode(view, reason),
})

const failuresOfNode = ({ trouble, isOfNode, attempts = 0 }: ReplicaView, reason: string) =>
  isOfNode === true && attempts > 0 && reason !== '' && reason === trouble
    ? { nodeFailures: Math.min(attempts, MOST_NODE_FAILURES) }
    : {}

function observeContainer(view: ReplicaView, container: SeenContainer): UnnumberedObservation | undefined {
  const { id, startedAt, exitCode, restarts, proof, lastExit } = container
  const observed = (state: ReplicaState, reason: string): UnnumberedObservation => ({
    ...identity(view.item),
    containerId: id,
    startedAt,
    exitCode,
    restarts: restarts + failedStarts(view, reason),
    gone: false,
    ...defined({ lastExit, proof }),
    ...explainFailure(view, container, reason),
    ...aboutOf(view, reason),
    ...failuresOfNode(view, reason),
    state,
    reason,
  })
  const isDesired = view.item.desired === 'running'
  switch (container.state) {
    case 'running':
    case 'paused':
      if (view.activity === 'stopping') return observed('stopping', '')
      return view.unverified ? undefined : observed(...runningState(view, container))
    case 'restarting':
      return view.activity === 'stopping' ? observed('stopping', '') : observed('running', 'exited')
    case 'removing':
      // The end of a job is reported once: when its container has exited, or when it is gone.
      if (isDesired && runsOnce(view.item.template)) return undefined
      // Something other than the agent is removing a desired container. The agent will recreate the container, so the
      // replica is not reported as ending.
      return isDesired ? observed('starting', 'removed') : observed('stopping', '')
    case 'created':
      return isDesired ? observed('starting', view.trouble) : observed('stopped', '')
    case 'exited':
    case 'dead':
      if (container.isEndUnknown === true && runsOnce(view.item.template))
        return observed('stopped', CONTAINER_LOST)
      if (!isDesired) return observed('stopped', '')
      if (runsOnce(view.item.template)) return observed('stopped', exitCode === 0 ? '' : 'exited')
      // The agent will start it again, as the engine starts a container whose state is `restarting`.
      if (isStartedByAgent(view.item.template) && view.trouble === '')
        return view.activity === 'stopping'
          ? observed('stopping', '')
          : observed('running', isFencedExit(view.exitCause, lastExit?.at) ? FENCED : 'exited')
      return observed('starting', view.trouble || 'exited')
  }
}

/** Reasons of a container that the engine does not run at all. */
export const NOT_STARTED: ReadonlySet<string> = new Set(['create_failed', 'start_failed'])

/** Attempts to run the container that the engine refused. They count as restarts, as the engine does not count them. */
const failedStarts = ({ attempts = 0 }: ReplicaView, reason: string): number =>
  NOT_STARTED.has(reason) ? attempts : 0

/** Failed checks of a running container, or the error that keeps a container from running. */
function explainFailure(
  view: ReplicaView,
  container: SeenContainer,
  reason: string,
): Pick<Observation, 'cause' | 'failedChecks'> {
  const { exitCause, readySince } = view
  const exit = exitCause?.at === container.lastExit?.at ? exitCause?.text : undefined
  if (container.state !== 'running' && container.state !== 'paused')
    return reason === '' ? {} : defined({ cause: view.cause || container.cause || exit })
  const checks = failedChecks(view, container)
  if (checks === undefined) return readySince === container.startedAt ? {} : defined({ cause: exit })
  return { failedChecks: checks.count, ...defined({ cause: checks.output || undefined }) }
}

/** The longer row of failed checks: the agent's, which run until the container is ready, or the engine's. */
function failedChecks(
  { probes, readySince }: ReplicaView,
  { startedAt, health, failedChecks: own }: SeenContainer,
): FailedChecks | undefined {
  const engines = health === 'healthy' ? undefined : own
  const agents = probes?.startedAt === startedAt && readySince !== startedAt ? probes : undefined
  return (agents?.count ?? 0) > (engines?.count ?? 0) ? agents : engines
}

function runningState(
  view: ReplicaView,
  { startedAt, health, state }: SeenContainer,
): [ReplicaState, string] {
  const ready = view.readySince !== undefined && view.readySince === startedAt
  if (state === 'paused') return [ready ? 'ready' : 'running', 'paused']
  return [ready ? 'ready' : 'running', health === 'unhealthy' ? 'unhealthy' : '']
}

const identity = ({ assignmentId, generation }: DesiredItem) => ({ assignmentId, generation })

/** If a state is earlier than the last reported state, the latter stays, with a reason that shows what got worse. */
function moveForward(before: Observation | undefined, seen: UnnumberedObservation): UnnumberedObservation {
  if (before === undefined || rank(seen.state) >= rank(before.state)) return seen
  const reason = seen.reason || (before.state === 'ready' ? 'not_ready' : '')
  return { ...seen, state: before.state, reason }
}

const rank = (state: ReplicaState): number => ORDER.indexOf(state)

/** The number of container exits or failed starts after which a revision has failed. */
export const FAILING_EXITS = 3
const FOLDED_STATES: readonly ReplicaState[] = ['pulling', 'starting', 'running', 'ready']

/**
 * Whether an observation must be reported at once, however many were reported before: a changed readiness, an unhealthy
 * container, the exits that make a revision fail, another generation, and everything after the replica's life.
 */
export function isUrgent(before: Observation | undefined, now: UnnumberedObservation): boolean {
  if (before === undefined || now.generation !== before.generation) return true
  if (isReady(now) !== isReady(before) || !FOLDED_STATES.includes(now.state)) return true
  if (now.reason === 'unhealthy') return before.reason !== 'unhealthy'
  if ((now.nodeFailures ?? 0) > (before.nodeFailures ?? 0)) return true
  return now.restarts > before.restarts && before.restarts < FAILING_EXITS
}

/** Whether an observation differs from the observation that was last reported. */
export function hasChanged(before: Observation | undefined, seen: UnnumberedObservation): boolean {
  return before === undefined || JSON.stringify(compared(before)) !== JSON.stringify(compared(seen))
}

const compared = (one: UnnumberedObservation) => [
  one.generation,
  one.state,
  one.containerId,
  one.startedAt,
  one.exitCode,
  one.restarts,
  one.reason,
  one.about,
  one.lastExit,
  one.cause,
  one.failedChecks,
  one.nodeFailures,
  one.proof,
  one.gone,
]
