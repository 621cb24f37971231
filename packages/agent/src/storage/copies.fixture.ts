// A keeper of copies on a test pool, and desired copies as a server sends them.

import {
  asVolumeId,
  type DesiredCopy,
  type ObservedCopy,
  type PoolReport,
  type PoolWipe,
  ulid,
  type VolumeId,
} from '@holdfast/contract'
import pino from 'pino'
import { MIB } from '../adapters/btrfs/pool.fixture.ts'
import type { DesiredChange } from '../ports/session.ts'
import type { VolumePool } from '../ports/volume-pool.ts'
import { type CopyKeeper, startCopyKeeper } from './keep-copies.ts'
import { createPoolKeeper, type PoolKeeper } from './keep-pool.ts'

let count = 0
export function newVolume(): VolumeId {
  count += 1
  const random = Buffer.alloc(10)
  random.writeUInt32BE(count, 6)
  return asVolumeId(`vol_${ulid(Date.now(), random)}`)
}

/** A new primary of 16 MiB. */
export const desiredCopy = (over: Partial<DesiredCopy> = {}): DesiredCopy => ({
  volume: newVolume(),
  epoch: 1,
  role: 'primary',
  sizeBytes: 16 * MIB,
  desired: 'present',
  mayCreate: true,
  peers: [],
  ...over,
})

export interface KeptCopies extends CopyKeeper {
  readonly pool: PoolKeeper
  /** Copies in the order of their reports. */
  readonly reports: ObservedCopy[]
  /** Reports about the pool in their order. */
  readonly poolReports: PoolReport[]
  readonly logged: string[]
  /** Sends desired copies, all of them unless `change` says otherwise, and waits for a pass. */
  send(copies: readonly DesiredCopy[], change?: Partial<DesiredChange>): Promise<void>
  stateOf(copy: DesiredCopy): string | undefined
}

/** Starts a keeper as an agent with the pool does. Its failed copies are retried at once with the next pass. */
export async function keepCopies(open: (order?: PoolWipe) => Promise<VolumePool>): Promise<KeptCopies> {
  const logged: string[] = []
  const log = pino({ level: 'debug' }, { write: (line: string) => logged.push(line) })
  const reports: ObservedCopy[] = []
  const poolReports: PoolReport[] = []
  const reportPool = (one: PoolReport): void => void poolReports.push(one)
  const pool = createPoolKeeper({ open, log })
  await pool.check()
  let elapsedMs = 0
  const monotonicMs = (): number => {
    elapsedMs += 3_600_000
    return elapsedMs
  }
  const report = (copies: ObservedCopy[]): void => void reports.push(...copies)
  const given = { random: () => 0.5, now: () => new Date(), log }
  const keeper = startCopyKeeper({ pool, report, reportPool, monotonicMs, ...given })
  return {
    ...keeper,
    pool,
    reports,
    poolReports,
    logged,
    async send(copies, change = {}) {
      keeper.apply({ revision: 1, complete: true, items: [], gone: [], copies, ...change }, 'server')
      await keeper.check()
    },
    stateOf({ volume }) {
      const found = keeper.observed().find((one) => one.volume === volume)
      return found && [found.state, found.reason].filter(Boolean).join(' ')
    },
    async close() {
      pool.close()
      await keeper.close()
    },
  }
}
