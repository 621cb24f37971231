// The load balancer in front of the simulated servers: it checks /readyz, and notices late that a server is not ready.

import type { Server } from './server.ts'

/** Time after which the load balancer has noticed that a server does not reach the store. */
const NOTICED_MS = 10_000

/** The servers, dead ones included, among which it chooses: all but those known to be not ready, or all if none is ready. */
export function balancedServers(
  servers: ReadonlyMap<string, Server | undefined>,
  now: number,
): (Server | undefined)[] {
  const all = [...servers.values()]
  const ready = all.filter((server) => {
    const cutAt = server?.line.state === 'cut' ? server.line.since : Number.POSITIVE_INFINITY
    return now - cutAt < NOTICED_MS
  })
  return ready.length > 0 ? ready : all
}
