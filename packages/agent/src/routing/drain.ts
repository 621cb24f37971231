// Before a container that is routed to is stopped: it is led to no more, and what is in flight is answered. DECISIONS 4.

import { setTimeout as pause } from 'node:timers/promises'
import type { Engine } from '../ports/engine.ts'
import type { RouterAdmin } from '../ports/router.ts'
import type { Router } from './router.ts'

const LONGEST_MS = 10_000
const SHORTEST_MS = 1000
const ASK_EVERY_MS = 50
/** A connection that was opened just before the change still belongs to the old one when its request comes. */
const QUIET_MS = 250

export interface DrainDeps {
  readonly engine: Pick<Engine, 'inspectContainer'>
  readonly router: Router
  readonly admin: Pick<RouterAdmin, 'requestsInFlight'>
}

/** `graceMs`: how long the container may take to stop; the wait is no longer. */
export type Drain = (containerId: string, graceMs: number) => Promise<void>

export function createDrain({ engine, router, admin }: DrainDeps): Drain {
  return async (containerId, graceMs) => {
    const { address } = await engine.inspectContainer(containerId)
    if (address === null || !router.ledLately(address)) return
    const endMs = performance.now() + Math.max(SHORTEST_MS, Math.min(graceMs, LONGEST_MS))
    await router.withdraw(address, containerId, endMs - performance.now())
    await untilQuiet(admin, address, endMs)
  }
}

async function untilQuiet(admin: DrainDeps['admin'], address: string, endMs: number): Promise<void> {
  let quietSince: number | undefined
  while (performance.now() < endMs) {
    const busy = await isBusy(admin, address)
    if (busy === undefined) return
    quietSince = busy ? undefined : (quietSince ?? performance.now())
    if (quietSince !== undefined && performance.now() - quietSince >= QUIET_MS) return
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
