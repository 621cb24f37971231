// Which observations can change a decision? Agents report a starting container several times before it is ready, and nothing
// follows from that. Only readiness, a problem, another exit or its removal can change a decision.

import type { Observation } from '@holdfast/contract'

type SeenState = Pick<Observation, 'state' | 'reason' | 'about' | 'restarts' | 'gone'>

export interface ObservationDedup {
  /** Whether the observation matters and differs from the last one. */
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

/** The exact number of exits is included, because only the planner knows how many are too many. */
function relevantPart({ state, reason, about = '', restarts, gone }: SeenState): string {
  return `${STARTING.has(state) ? '' : state} ${reason} ${restarts} ${gone} ${about}`
}
