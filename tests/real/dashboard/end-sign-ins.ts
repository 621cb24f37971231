// Makes the sign-ins of a platform look as if their time had passed, because tests cannot wait for hours.

import { signIns } from '@holdfast/server/store/records'
import { openStore } from '@holdfast/server/store/store'
import { globally } from '@holdfast/server/store/transaction'
import { realClock as clock, realIds as ids } from '@holdfast/server/system-clock'
import { connectStore } from '@holdfast/testkit/platform/connect-store'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import pino from 'pino'

const DAY_MS = 24 * 3_600_000

/** Moves one time of every sign-in a day into the past. Returns how many were changed. */
export async function endSignIns({ config, root }: Platform, field: 'expiresAt' | 'usedAt'): Promise<number> {
  const engine = connectStore(config, pino({ level: 'silent' }))
  const store = await openStore({ engine, clock, ids, root, onUnreadable: () => {} })
  const stored = store.listWithIds(signIns)
  for (const { id } of stored)
    await store.transact<void>((transaction) => {
      const record = transaction.get(globally(signIns, id))
      if (record === undefined) return { kind: 'abort', result: undefined }
      const past = new Date(Date.parse(record[field]) - DAY_MS).toISOString()
      transaction.put(globally(signIns, id), { ...record, [field]: past })
      return { kind: 'commit', result: undefined }
    })
  store.close()
  engine.close()
  return stored.length
}
