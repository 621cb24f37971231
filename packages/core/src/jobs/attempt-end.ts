// Decides from the report of the agent and the state of the node whether an attempt of a job has ended, and how.

import type { JobSpec, Observation } from '@holdfast/contract'
import { CONTAINER_LOST, FAILING_EXITS, NOT_STARTED } from '../node/observe-replica.ts'
import type { NodeDisposition } from '../rollout/desired-replicas.ts'

export interface AttemptFacts {
  /** The last report of the agent; undefined if there is none. */
  readonly seen: Observation | undefined
  /** The state of the node of the attempt. */
  readonly node: NodeDisposition
}

export interface AttemptEnd {
  /** Why the attempt ended, as one word; empty for the exit code 0. */
  readonly reason: string
  readonly exitCode: number | null
  /** The container ended on its own: the agent had no order to stop it then. */
  readonly isOwnEnd: boolean
  /** The container may still run: its node was lost. */
  readonly isLost: boolean
}

const WITHOUT_EXIT = { exitCode: null, isOwnEnd: false, isLost: false }

/** Undefined while the attempt may still succeed. */
export function attemptEnd(
  { node, seen }: AttemptFacts,
  onNodeLoss: JobSpec['onNodeLoss'],
): AttemptEnd | undefined {
  if (seen !== undefined && hasEnded(seen)) return exitOf(seen)
  if (node === 'absent') return { ...WITHOUT_EXIT, reason: 'node_removed' }
  if (node === 'failed')
    return onNodeLoss === 'retry' ? { ...WITHOUT_EXIT, reason: 'node_lost', isLost: true } : undefined
  if (seen === undefined) return undefined
  const isRefused = seen.state === 'failed' && seen.reason === 'refused_by_agent'
  const isUnstartable = NOT_STARTED.has(seen.reason) && seen.restarts >= FAILING_EXITS
  return isRefused || isUnstartable ? { ...WITHOUT_EXIT, reason: seen.reason } : undefined
}

/** Whether the container has ended and will never run again, or none will be created. */
const hasEnded = ({ state, gone }: Observation): boolean => gone || state === 'stopped'

/** Whether the agent has reported that the container of an attempt has ended. */
export const isEndKnown = ({ seen }: Pick<AttemptFacts, 'seen'>): boolean =>
  seen !== undefined && hasEnded(seen)

function exitOf({ exitCode, lastExit, reason }: Observation): AttemptEnd {
  const code = lastExit?.code ?? exitCode
  return {
    reason: lastExit?.oomKilled === true ? 'oom_killed' : reasonOf(code, reason),
    exitCode: code,
    isOwnEnd: lastExit !== undefined,
    isLost: false,
  }
}

const reasonOf = (code: number | null, reason: string): string => {
  if (code === 0) return ''
  return code === null ? reason || CONTAINER_LOST : 'exited'
}
