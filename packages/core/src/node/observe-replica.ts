// What is to be said of one assignment, from what was seen of it and never from what is wished. Not to have seen is no
// state: then nothing is said. States only move on; a container that was ready and is not any more keeps its state and has
// a reason. So a replica serves when it is `ready` and its reason is empty. DECISIONS 5, SAFETY 4e.

import type { DesiredItem, Observation, ReplicaState } from '@holdfast/contract'
import type { ContainerState } from './plan-node.ts'

/** A container as the engine told of it last. */
export interface SeenContainer {
  readonly id: string
  readonly state: ContainerState
  readonly startedAt: string | null
  readonly exitCode: number | null
  readonly restarts: number
  /** The engine's own check; `none` where it has none. */
  readonly health: 'none' | 'starting' | 'healthy' | 'unhealthy'
  /** On the tenant's network; null where it has none at the moment. */
  readonly address: string | null
  /** Of one with secrets: what it was made with. */
  readonly proof?: string | undefined
}

export interface ReplicaView {
  readonly item: DesiredItem
  /** `unknown` until a list has been seen; `absent` once one was seen without it. */
  readonly container: SeenContainer | 'unknown' | 'absent'
  /** What the agent is doing about it at this moment. */
  readonly activity: 'pulling' | 'starting' | 'stopping' | undefined
  /** One may have been made since the engine was last listed: that none was there says nothing now. */
  readonly making: boolean
  /** Why the last thing the agent did about it failed; empty when it did not. */
  readonly trouble: string
  /** Which secret is not to be had and why, while that is the trouble; else empty. */
  readonly about: string
  /** It was found at the agent's start, and whether it is ready has not been judged yet. */
  readonly unjudged: boolean
  /** The start since which it is ready: the first passing check, or five seconds of running. */
  readonly readySince: string | undefined
}

export type Sighting = Omit<Observation, 'seq'>

/** In the order in which they follow one another. */
const ORDER: readonly ReplicaState[] = [
  'pulling',
  'starting',
  'running',
  'ready',
  'stopping',
  'stopped',
  'failed',
]

/** Undefined: nothing was seen. */
export function sightingOf(view: ReplicaView, before: Observation | undefined): Sighting | undefined {
  const seen = currentSighting(view)
  return seen === undefined ? undefined : moveOn(before, seen)
}

function currentSighting(view: ReplicaView): Sighting | undefined {
  const { container, item, activity } = view
  if (typeof container === 'object') return sightingOfContainer(view, container)
  // What stood in the way of making one is over once none is wished: else what was never made would never be gone.
  const trouble = item.desired === 'running' ? view.trouble : ''
  const nothing = { ...identity(item), containerId: null, startedAt: null, exitCode: null, restarts: 0 }
  if (activity === 'pulling' || trouble === 'image_pull_failed')
    return { ...nothing, state: 'pulling', reason: trouble, gone: false }
  if (trouble === 'refused_by_agent') return { ...nothing, state: 'failed', reason: trouble, gone: false }
  if (activity === 'starting' || trouble !== '')
    return { ...nothing, state: 'starting', reason: trouble, gone: false, ...aboutOf(view, trouble) }
  if (container === 'unknown' || view.making || item.desired === 'running') return undefined
  return { ...nothing, state: 'stopped', reason: '', gone: item.desired === 'removed' }
}

/** States only go forward, so one that was ready and serves no more stays `ready`, with the reason. */
export const isReady = (seen: Pick<Observation, 'state' | 'reason'> | undefined): boolean =>
  seen?.state === 'ready' && seen.reason === ''

export const SECRET_UNRESOLVED = 'secret_unresolved'

const aboutOf = ({ about }: ReplicaView, reason: string): { about?: string } =>
  reason === SECRET_UNRESOLVED && about !== '' ? { about } : {}

function sightingOfContainer(view: ReplicaView, container: SeenContainer): Sighting | undefined {
  const { id, startedAt, exitCode, restarts, proof } = container
  const common = {
    ...{ ...identity(view.item), containerId: id, startedAt, exitCode, restarts, gone: false },
    ...(proof === undefined ? {} : { proof }),
  }
  const said = (state: ReplicaState, reason: string): Sighting => ({ ...common, state, reason })
  switch (container.state) {
    case 'running':
    case 'paused':
      if (view.activity === 'stopping') return said('stopping', '')
      return view.unjudged ? undefined : said(...runningState(view, container))
    case 'restarting':
      return view.activity === 'stopping' ? said('stopping', '') : said('running', 'exited')
    case 'removing':
      // By somebody else, when it is wished: then another one is going to be made, and it must not be said to end.
      return view.item.desired === 'running' ? said('starting', 'removed') : said('stopping', '')
    case 'created':
      return view.item.desired === 'running' ? said('starting', view.trouble) : said('stopped', '')
    case 'exited':
    case 'dead':
      return view.item.desired === 'running'
        ? said('starting', view.trouble || 'exited')
        : said('stopped', '')
  }
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

/** A state that was left is not said again; what has become worse is said by the reason. */
function moveOn(before: Observation | undefined, seen: Sighting): Sighting {
  if (before === undefined || rank(seen.state) >= rank(before.state)) return seen
  const reason = seen.reason || (before.state === 'ready' ? 'not_ready' : '')
  return { ...seen, state: before.state, reason }
}

const rank = (state: ReplicaState): number => ORDER.indexOf(state)

/** Is there anything to say that was not said? */
export function isNews(before: Observation | undefined, seen: Sighting): boolean {
  if (before === undefined) return true
  const { seq: _, ...said } = before
  return JSON.stringify(pick(said)) !== JSON.stringify(pick(seen))
}

const pick = (one: Sighting) => [
  ...[one.generation, one.state, one.containerId, one.startedAt, one.exitCode, one.restarts],
  ...[one.reason, one.about, one.proof, one.gone],
]
