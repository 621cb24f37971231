// Writers that create, change and remove their own deployments and sometimes change a shared deployment, until they are
// stopped.

import { setTimeout as pause } from 'node:timers/promises'
import type { TenantId } from '@holdfast/contract'
import type { Store } from '@holdfast/server/store/store'
import { bump, type Ledger, newLedger, putNext, removeAt, type Writing } from './write-ledger.ts'

export interface WriteLoad {
  readonly ledger: Ledger
  /** True if every store has acknowledged a write that began after the given time. */
  acknowledgedSince(begun: number): boolean
  /** The longest time so far between two acknowledgements of the same store, over all stores. */
  slowestGapMs(): number
  pad(bytes: number): void
  /** Stops the writers. Resolves when every writer has the response to its last write. */
  stop(): Promise<void>
}

const SHARED = 4
/** On average, a writer changes a shared deployment once for this many changes to its own deployments. */
const SHARE_EVERY = 16

interface Pace {
  lastBegun: number
  lastAckAt: number
  slowestMs: number
}

export interface LoadOptions {
  readonly tenant: TenantId
  readonly writers: number
  /** Pause between two steps of one writer, in milliseconds; 0 means no pause. */
  readonly restMs: number
}

export function startWriteLoad(stores: readonly Store[], options: LoadOptions): WriteLoad {
  const { tenant, writers, restMs } = options
  const ledger = newLedger()
  const paces = stores.map((): Pace => ({ lastBegun: 0, lastAckAt: performance.now(), slowestMs: 0 }))
  let stopped = false
  let padding = 0
  const running = Array.from({ length: writers }, async (_, writer) => {
    const store = stores[writer % stores.length]
    const pace = paces[writer % stores.length]
    if (store === undefined || pace === undefined) return
    const writing: Writing = { store, tenant, ledger, padding: () => padding }
    const rest = async () => {
      if (restMs > 0) await pause(Math.random() * 2 * restMs)
      return !stopped
    }
    for (let round = 0; !stopped; round += 1) await life(writing, pace, `w${writer}-${round}`, rest)
  })
  return {
    ledger,
    acknowledgedSince: (begun) => paces.every(({ lastBegun }) => lastBegun > begun),
    slowestGapMs: () => Math.max(...paces.map(({ slowestMs }) => slowestMs)),
    pad(bytes) {
      padding = bytes
    },
    async stop() {
      stopped = true
      await Promise.all(running)
    },
  }
}

/**
 * Creates one deployment, changes it a few times, and deletes it with a probability of 25 %. Stops at a write whose
 * outcome is unknown.
 */
async function life(writing: Writing, pace: Pace, name: string, rest: () => Promise<boolean>): Promise<void> {
  const timed = async (step: () => Promise<boolean>): Promise<boolean> => {
    const begun = performance.now()
    const known = await step()
    if (known) note(pace, begun)
    return known && rest()
  }
  const changes = Math.floor(Math.random() * 4)
  for (let revision = 0; revision <= changes; revision += 1)
    if (!(await timed(() => putNext(writing, name, revision)))) return
  if (Math.random() < 0.25) await timed(() => removeAt(writing, name, changes + 1))
  if (Math.random() < changes / SHARE_EVERY)
    await bump(writing, `shared-${Math.floor(Math.random() * SHARED)}`)
}

function note(pace: Pace, begun: number): void {
  const now = performance.now()
  pace.slowestMs = Math.max(pace.slowestMs, now - pace.lastAckAt)
  pace.lastAckAt = now
  pace.lastBegun = Math.max(pace.lastBegun, begun)
}
