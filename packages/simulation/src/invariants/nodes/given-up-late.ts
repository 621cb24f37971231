// Invariant: no node is declared unreachable or failed before its machine has been away for the configured time, and
// during a mass failure no node is declared failed before the hold ends. Not checked while the control plane itself is
// impaired, because nodes then have more time.

import type { NodeId } from '@holdfast/contract'
import type { Script } from '../../script/script.ts'
import type { Invariant } from '../invariant.ts'
import type { Moment } from '../moment.ts'

const LEAST_MS = { unreachable: 40_000, failed: 120_000 } as const
/** Tolerance: a heartbeat may have been under way when the machine failed, and heartbeat intervals are coarse. */
const COARSE_MS = 11_000
/** Steps of a script after which a healthy machine may have no session for a while. */
const TROUBLE: ReadonlySet<string> = new Set([
  'server-killed',
  'server-started',
  'server-paused',
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

/** Time after which a machine that is back has certainly sent a heartbeat. */
const HEARD_AFTER_MS = 45_000

interface Presence {
  /** Time at which the machine's current presence began; undefined while the machine cannot send heartbeats. */
  since: number | undefined
  /** Latest time at which the machine has certainly sent a heartbeat. */
  until: number
}

function createPresence() {
  const known = new Map<NodeId, Presence>()
  const isSteady = ({ since }: Presence, now: number) => since !== undefined && now - since >= HEARD_AFTER_MS
  return {
    note({ world, now }: Moment): void {
      for (const { nodeId, powered, connected, isHeard } of world.machines) {
        const before = known.get(nodeId) ?? { since: now - HEARD_AFTER_MS, until: now }
        const isThere = powered && connected && isHeard
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

/** True during a fault of the control plane and for a while after the fault ends. */
function isTroubled({ steps }: Script, elapsedMs: number): boolean {
  return steps.some((step) => {
    if (!TROUBLE.has(step.do)) return false
    const endsAt = step.at + ('forMs' in step ? step.forMs : 0)
    return elapsedMs >= step.at && elapsedMs < endsAt + TROUBLE_MS
  })
}

/** True if no server is alive, so that no heartbeat can be received. */
const isRouted = ({ world }: Moment): boolean => !world.servers.some(({ alive }) => alive)
