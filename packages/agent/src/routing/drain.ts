// Drains a routed container before it stops: withdraws it from the router, then waits until it has no request in flight.

import { setTimeout as pause } from 'node:timers/promises'
import type { InspectedContainer } from '../ports/engine.ts'
import type { RouterAdmin } from '../ports/router.ts'
import { runOf } from './plan-backends.ts'
import type { Router } from './router.ts'

const LONGEST_MS = 10_000
const SHORTEST_MS = 1000
const POLL_EVERY_MS = 50
/**
 * Time without requests in flight after which a drain ends. A router counts a request only a moment after it chose the
 * request's upstream, so a single poll is not enough.
 */
const QUIET_MS = 250
/** Failed polls in a row after which a drain ends. A single failure is normal while the router loads a configuration. */
const MAX_FAILED_POLLS = 3

export interface DrainDeps {
  readonly engine: {
    inspectContainer(id: string): Promise<Pick<InspectedContainer, 'id' | 'startedAt' | 'address'>>
  }
  readonly router: Pick<Router, 'routedLately' | 'withdraw'>
  readonly admin: Pick<RouterAdmin, 'requestsInFlight'>
}

/** Drains a container for at most its stop grace period `graceMs`, which is first raised to 1 s or lowered to 10 s. */
export type Drain = (containerId: string, graceMs: number) => Promise<void>

export function createDrain({ engine, router, admin }: DrainDeps): Drain {
  return async (containerId, graceMs) => {
    const container = await engine.inspectContainer(containerId)
    const { address } = container
    if (address === null) return
    const endMs = performance.now() + Math.max(SHORTEST_MS, Math.min(graceMs, LONGEST_MS))
    const isRouted = router.routedLately(address)
    if (isRouted) await router.withdraw(address, runOf(container), endMs - performance.now())
    // Waits even if the address is not routed: an agent that crashed after the withdrawal may have left open requests.
    await untilQuiet(admin, address, endMs, isRouted ? QUIET_MS : 0)
  }
}

/** Resolves when no request was in flight for `quietMs`, when the router does not answer, or at `endMs`. */
async function untilQuiet(
  admin: DrainDeps['admin'],
  address: string,
  endMs: number,
  quietMs: number,
): Promise<void> {
  let quietSince: number | undefined
  let failedPolls = 0
  while (performance.now() < endMs) {
    const busy = await isBusy(admin, address)
    failedPolls = busy === undefined ? failedPolls + 1 : 0
    quietSince = busy === false ? (quietSince ?? performance.now()) : undefined
    if (failedPolls >= MAX_FAILED_POLLS) return
    if (quietSince !== undefined && performance.now() - quietSince >= quietMs) return
    await pause(POLL_EVERY_MS)
  }
}

/** Whether the address has requests in flight. Undefined if the router does not answer and thus forwards no requests. */
async function isBusy(admin: DrainDeps['admin'], address: string): Promise<boolean | undefined> {
  try {
    const counts = await admin.requestsInFlight()
    return [...counts.keys()].some((upstream) => upstream.startsWith(`${address}:`))
  } catch {
    return undefined
  }
}
