// No node is declared failed early: a node becomes unreachable or failed only after its machine has been away for that long,
// and during a mass failure no node fails before the hold is over. Not checked while the control plane itself is in trouble,
// because nodes then get more time than this.

import type { NodeId } from '@holdfast/contract'
import type { Script } from '../script/script.ts'
import type { Invariant } from './invariant.ts'
import type { Moment } from './moment.ts'

const LEAST_MS = { unreachable: 40_000, failed: 120_000 } as const
/** A heartbeat may have been under way when the machine went, and heartbeat intervals are coarse. */
const COARSE_MS = 11_000
/** After such a step a healthy machine may be without a session for a while. */
const TROUBLE: ReadonlySet<string> = new Set([
  'server-killed',
  'server-started',
  'server-paused',
  'store-cut',
  'store-slow',
  're-enroll',
])
const TROUBLE_MS = 180_000

export const givenUpLate: Invariant = {
  name: 'given-up-late',
  start(script) {
    const presence = createPresence()
    let startedAt: number | undefined
    return function* (moment) {
      startedAt ??= moment.now
      presence.note(moment)
      for (const { was, is } of moment.nodes.changed) {
        if (is === undefined || is.status === was?.status) continue
        if (is.status !== 'unreachable' && is.status !== 'failed') continue
        const away = presence.awayMs(is.id, moment.now)
        const owed = LEAST_MS[is.status] - COARSE_MS
        if (away < owed && !isTroubled(script, moment.now - startedAt) && !isRouted(moment))
          yield { subject: is.name, message: `is ${is.status} after ${Math.round(away / 1000)} s away` }
      }
    }
  },
}

/** The time from which a machine that returned has certainly sent a heartbeat again. */
const HEARD_AFTER_MS = 45_000

interface Presence {
  /** Undefined while it is away. */
  since: number | undefined
  /** Time of its last certain heartbeat. */
  until: number
}

function createPresence() {
  const known = new Map<NodeId, Presence>()
  const isSteady = ({ since }: Presence, now: number) => since !== undefined && now - since >= HEARD_AFTER_MS
  return {
    note({ world, now }: Moment): void {
      for (const { nodeId, powered, connected } of world.machines) {
        const before = known.get(nodeId) ?? { since: now - HEARD_AFTER_MS, until: now }
        const isThere = powered && connected
        const until = isSteady(before, now) ? now : before.until
        known.set(nodeId, { since: isThere ? (before.since ?? now) : undefined, until })
      }
    },
    awayMs(id: NodeId, now: number): number {
      const { since, until } = known.get(id) ?? { since: undefined, until: now }
      return isSteady({ since, until }, now) ? 0 : now - until
    },
  }
}

/** Extra time after a step with a duration, counted from its end. */
function isTroubled({ steps }: Script, elapsedMs: number): boolean {
  return steps.some((step) => {
    if (!TROUBLE.has(step.do)) return false
    const endsAt = step.at + ('forMs' in step ? step.forMs : 0)
    return elapsedMs >= step.at && elapsedMs < endsAt + TROUBLE_MS
  })
}

/** No server is alive, so no heartbeat can be received. */
const isRouted = ({ world }: Moment): boolean => !world.servers.some(({ alive }) => alive)
