// Completes the copies of volumes in the store, as reports of agents would.

import { isTenantId } from '@holdfast/contract'
import { connectEtcd } from '@holdfast/server/connect-engines'
import { volumes } from '@holdfast/server/store/records'
import { openStore } from '@holdfast/server/store/store'
import { inTenant } from '@holdfast/server/store/transaction'
import { realClock as clock, realIds as ids } from '@holdfast/server/system-clock'
import pino from 'pino'
import type { Platform } from '../platform/start-platform.ts'

/** Makes all volumes of a tenant that have a primary Ready. Returns how many were changed. */
export async function finishVolumes({ config }: Pick<Platform, 'config'>, tenant: string): Promise<number> {
  if (!isTenantId(tenant)) throw new TypeError(`no tenant ${tenant}`)
  const engine = connectEtcd(config, pino({ level: 'silent' }))
  const store = await openStore({ engine, clock, ids, root: config.etcd.root, onUnreadable: () => {} })
  try {
    const unfinished = store
      .list(volumes, tenant)
      .filter(({ record }) => record.phase === 'Materializing' || record.phase === 'Resizing')
    for (const { record } of unfinished)
      await store.transact<void>((transaction) => {
        const address = inTenant(tenant, volumes, record.id)
        const stored = transaction.get(address)
        if (stored === undefined) return { kind: 'abort', result: undefined }
        const copies = stored.copies.map((copy) => ({ ...copy, state: 'current' as const }))
        transaction.put(address, { ...stored, phase: 'Ready', copies })
        return { kind: 'commit', result: undefined }
      })
    return unfinished.length
  } finally {
    store.close()
    engine.close()
  }
}
