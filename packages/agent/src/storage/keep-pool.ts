// Keeps the node's pool open and measured. A pool that is missing, replaced or unreadable is reported with its fault and
// opened again as soon as it is back; containers without volumes are not affected.

import { setTimeout as delay } from 'node:timers/promises'
import type { PoolWipe } from '@holdfast/contract'
import type { Logger } from 'pino'
import type { Storage } from '../ports/session.ts'
import { type ForeignPool, PoolError, type PoolFacts, type VolumePool } from '../ports/volume-pool.ts'

const CHECK_MS = 20_000
/** The start of the agent waits this long for its pool, so that the first session can report it. */
const START_MS = 10_000

type ReportedFault = 'pool_missing' | 'pool_changed' | 'pool_foreign' | 'pool_unreadable'

/** The state of the pool at its last check: its size, or why it cannot be used. */
export interface PoolState {
  readonly storage?: PoolFacts
  readonly poolFault?: ReportedFault
  /** The pool, if it has data of another tenant. */
  readonly foreign?: ForeignPool
}

export interface PoolKeeper {
  state(): PoolState
  /** The pool, if it could be used at its last check. */
  pool(): VolumePool | undefined
  /** Calls the listener after each check. */
  onChecked(listener: () => void): void
  /** The pool as the server hears of it: its size and id at the last check, or its fault. */
  storage(): Storage
  /** Checks the pool now, and opens it if it is not open. Never rejects. */
  check(): Promise<void>
  /** Deletes all data of the pool; repeated with each check until it succeeds. Never rejects. */
  wipe(order: PoolWipe): Promise<void>
  close(): void
}

interface KeeperDeps {
  /** `order`: to delete all data of the pool before it is used. */
  open(order?: PoolWipe): Promise<VolumePool>
  readonly log: Logger
}

export function createPoolKeeper({ open, log }: KeeperDeps): PoolKeeper {
  let pool: VolumePool | undefined
  let state: PoolState = { poolFault: 'pool_unreadable' }
  let checking: Promise<void> | undefined
  let order: PoolWipe | undefined
  let lastMessage = ''
  const listeners: (() => void)[] = []

  async function measure(): Promise<void> {
    try {
      pool ??= await open(order)
      state = { storage: await pool.inspect() }
      if (order !== undefined && state.storage?.wiped === order.id) order = undefined
      if (lastMessage !== 'open') log.info({ ...state.storage }, 'pool open')
      lastMessage = 'open'
    } catch (error) {
      pool = undefined
      const foreign = error instanceof PoolError ? error.foreign : undefined
      state = { poolFault: reportedFault(error), ...(foreign && { foreign }) }
      const message = error instanceof Error ? error.message : String(error)
      if (lastMessage !== message) log.error({ ...state, message }, 'pool unavailable')
      lastMessage = message
    }
  }
  const check = (): Promise<void> => {
    checking ??= measure().finally(() => {
      checking = undefined
      for (const listener of listeners) listener()
    })
    return checking
  }
  const timer = setInterval(() => void check(), CHECK_MS).unref()
  return {
    state: () => state,
    pool: () => pool,
    onChecked: (listener) => void listeners.push(listener),
    storage: () => storageOf(state),
    check,
    async wipe(given) {
      if (state.storage?.wiped === given.id) return
      // A check that runs may have opened the pool without the order.
      await checking
      log.warn({ ...given }, 'deleting all data of the pool')
      order = given
      pool = undefined
      await check()
    },
    close: () => clearInterval(timer),
  }
}

/** Opens the pool and waits for it, but not forever: a disk that does not answer must not stop the agent. */
export async function startPoolKeeper(deps: KeeperDeps): Promise<PoolKeeper> {
  const keeper = createPoolKeeper(deps)
  await Promise.race([keeper.check(), delay(START_MS, undefined, { ref: false })])
  return keeper
}

/** A pool with a fault has no bytes, so that a server which does not know faults places no volume on it. */
function storageOf({ storage, poolFault, foreign }: PoolState): Storage {
  const poolId = foreign && { poolId: foreign.fileSystemId }
  if (storage === undefined)
    return { poolBytes: 0, usedBytes: 0, ...poolId, fault: poolFault ?? 'pool_unreadable' }
  const { poolBytes, usedBytes, fileSystemId } = storage
  return { poolBytes, usedBytes, poolId: fileSystemId }
}

export function reportedFault(error: unknown): ReportedFault {
  const fault = error instanceof PoolError ? error.fault : 'failed'
  return fault === 'missing' || fault === 'changed' || fault === 'foreign'
    ? `pool_${fault}`
    : 'pool_unreadable'
}
