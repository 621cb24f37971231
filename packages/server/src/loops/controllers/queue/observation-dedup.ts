// Which observations can change a decision? A container on its way is told several times before it is ready, and nothing
// follows from that: only being ready, trouble, too many exits and being gone do. DESIGN 4 (Scale).

import type { Observation } from '@holdfast/contract'

type Seen = Pick<Observation, 'state' | 'reason' | 'about' | 'restarts' | 'gone'>

export interface ObservationDedup {
  /** Whether this one says something that matters and was not said before. */
  isNews(id: string, seen: Seen): boolean
  forget(id: string): void
}

const ON_ITS_WAY = new Set<Observation['state']>(['pending', 'assigned', 'pulling', 'starting', 'running'])
const UNKNOWN = weightOf({ state: 'assigned', reason: '', restarts: 0, gone: false })

export function createObservationDedup(): ObservationDedup {
  const known = new Map<string, string>()
  return {
    isNews(id, seen) {
      const weight = weightOf(seen)
      const news = weight !== (known.get(id) ?? UNKNOWN)
      if (news) known.set(id, weight)
      return news
    },
    forget: (id) => known.delete(id),
  }
}

/** NOTE the count of exits is told as it is: the planner alone knows which one is too many. */
function weightOf({ state, reason, about = '', restarts, gone }: Seen): string {
  return `${ON_ITS_WAY.has(state) ? '' : state} ${reason} ${restarts} ${gone} ${about}`
}
