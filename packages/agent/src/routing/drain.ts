// Before a container that is routed to is stopped: it is led to no more, and what is in flight is answered. DECISIONS 4.

import { setTimeout as pause } from 'node:timers/promises'
import type { InspectedContainer } from '../ports/engine.ts'
import type { RouterAdmin } from '../ports/router.ts'
import { runOf } from './plan-backends.ts'
import type { Router } from './router.ts'

const LONGEST_MS = 10_000
const SHORTEST_MS = 1000
const ASK_EVERY_MS = 50
/**
 * Between a request's look at where it is led and the moment at which the router counts it as being in flight lie a few
 * steps of the router's own. They wait for nobody, but on a machine with far more work than cores each may take as long as
 * its scheduler lets it wait.
 */
const QUIET_MS = 250
/** One answer may be missing, as when the router takes a new configuration and closes the connection. */
const SILENT_TIMES = 3

export interface DrainDeps {
  readonly engine: {
    inspectContainer(id: string): Promise<Pick<InspectedContainer, 'id' | 'startedAt' | 'address'>>
  }
  readonly router: Pick<Router, 'ledLately' | 'withdraw'>
  readonly admin: Pick<RouterAdmin, 'requestsInFlight'>
}

/** `graceMs`: how long the container may take to stop; the wait is no longer. */
export type Drain = (containerId: string, graceMs: number) => Promise<void>

export function createDrain({ engine, router, admin }: DrainDeps): Drain {
  return async (containerId, graceMs) => {
    const container = await engine.inspectContainer(containerId)
    const { address } = container
    if (address === null) return
    const endMs = performance.now() + Math.max(SHORTEST_MS, Math.min(graceMs, LONGEST_MS))
    const isLed = router.ledLately(address)
    if (isLed) await router.withdraw(address, runOf(container), endMs - performance.now())
    // An agent that died in the middle of this may have withdrawn it: what was led there before is still in flight.
    await untilQuiet(admin, address, endMs, isLed ? QUIET_MS : 0)
  }
}

/** Nothing is in flight, and was not for so long; or no router answers. */
async function untilQuiet(
  admin: DrainDeps['admin'],
  address: string,
  endMs: number,
  quietMs: number,
): Promise<void> {
  let quietSince: number | undefined
  let silent = 0
  while (performance.now() < endMs) {
    const busy = await isBusy(admin, address)
    silent = busy === undefined ? silent + 1 : 0
    quietSince = busy === false ? (quietSince ?? performance.now()) : undefined
    if (silent >= SILENT_TIMES) return
    if (quietSince !== undefined && performance.now() - quietSince >= quietMs) return
    await pause(ASK_EVERY_MS)
  }
}

/** Undefined where no router answers: then nothing comes through it. */
async function isBusy(admin: DrainDeps['admin'], address: string): Promise<boolean | undefined> {
  try {
    const counts = await admin.requestsInFlight()
    return [...counts.keys()].some((upstream) => upstream.startsWith(`${address}:`))
  } catch {
    return undefined
  }
}
