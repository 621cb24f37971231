// Filters the observations that can change a plan: readiness, a problem, another exit or failure of the node, or the removal
// of the container. Other reports, such as those of a container that is still starting, are ignored.

import type { Observation } from '@holdfast/contract'

type SeenState = Pick<Observation, 'state' | 'reason' | 'about' | 'restarts' | 'nodeFailures' | 'gone'>

export interface ObservationDedup {
  /** Whether the observation can change a plan and differs from the last one of the same assignment. */
  isNews(id: string, seen: SeenState): boolean
  forget(id: string): void
}

const STARTING = new Set<Observation['state']>(['pending', 'assigned', 'pulling', 'starting', 'running'])
const UNKNOWN = relevantPart({ state: 'assigned', reason: '', restarts: 0, gone: false })

export function createObservationDedup(): ObservationDedup {
  const known = new Map<string, string>()
  return {
    isNews(id, seen) {
      const relevant = relevantPart(seen)
      const isNew = relevant !== (known.get(id) ?? UNKNOWN)
      if (isNew) known.set(id, relevant)
      return isNew
    },
    forget: (id) => known.delete(id),
  }
}

/**
 * The part of an observation that can change a plan. It includes each exit and each failure of the node, as only the
 * planner knows their limits.
 */
function relevantPart({ state, reason, about = '', restarts, nodeFailures = 0, gone }: SeenState): string {
  return `${STARTING.has(state) ? '' : state} ${reason} ${restarts} ${nodeFailures} ${gone} ${about}`
}
