// The report about the node's pool and all that it holds. The server gets it after each change; usage and checkpoints change
// all the time and are no reason for a report.

import { asVolumeId, MAX_OFFERS, type PoolReport } from '@holdfast/contract'
import type { PoolKeeper } from './keep-pool.ts'
import { offersIn, type PoolCopies } from './pool-copies.ts'

export interface PoolReports {
  /** The last report; undefined without a pool or before the first one. */
  current(): PoolReport | undefined
  /** Reports the pool if it changed. `held` is undefined if the pool cannot be read. */
  update(held: PoolCopies | undefined): void
}

export function createPoolReports(
  keeper: PoolKeeper | undefined,
  report: (pool: PoolReport) => void,
): PoolReports {
  let latest: PoolReport | undefined
  return {
    current: () => latest,
    update(held) {
      if (keeper === undefined) return
      const before = latest && essenceOf(latest)
      latest = reportOf(keeper, held)
      if (essenceOf(latest) !== before) report(latest)
    },
  }
}

function reportOf(keeper: PoolKeeper, held: PoolCopies | undefined): PoolReport {
  const { foreign, storage } = keeper.state()
  const facts = {
    storage: keeper.storage(),
    ...(foreign?.tenant !== undefined && { foreign: foreign.tenant }),
    ...(storage?.wiped !== undefined && { wiped: storage.wiped }),
  }
  if (held === undefined) return facts
  const quarantined = held.quarantined.map(({ volume, epoch, usedBytes, since }) => ({
    volume: asVolumeId(volume),
    epoch,
    ...(usedBytes !== undefined && { usedBytes }),
    since,
  }))
  return {
    ...facts,
    copies: offersIn(held).slice(0, MAX_OFFERS),
    quarantined: quarantined.slice(0, MAX_OFFERS),
  }
}

function essenceOf({ storage, copies, ...pool }: PoolReport): string {
  const { usedBytes: _used, ...size } = storage
  return JSON.stringify({
    ...pool,
    size,
    copies: copies?.map(({ volume, epoch, role }) => [volume, epoch, role]),
  })
}
