// Creates or changes one record of a running platform in its store, as a part of the platform that a test leaves out would.

import { openStore } from '@holdfast/server/store/store'
import type { Address } from '@holdfast/server/store/transaction'
import { realClock as clock, realIds as ids } from '@holdfast/server/system-clock'
import pino from 'pino'
import { connectStore } from './connect-store.ts'
import type { Platform } from './start-platform.ts'

export async function changeRecord<T>(
  { config }: Pick<Platform, 'config'>,
  address: Address<T>,
  change: (record: T | undefined) => T,
): Promise<void> {
  const engine = connectStore(config, pino({ level: 'silent' }))
  const store = await openStore({ engine, clock, ids, root: config.etcd.root, onUnreadable: () => {} })
  try {
    await store.transact<void>((transaction) => {
      transaction.put(address, change(transaction.get(address)))
      return { kind: 'commit', result: undefined }
    })
  } finally {
    store.close()
    engine.close()
  }
}
