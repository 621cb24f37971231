// `holdfast-server upgrade`: connects to the store and prints what an operator needs for an upgrade
// (docs/guides/upgrade.md).

import pino from 'pino'
import type { Config } from './config/schema.ts'
import { connectEtcd } from './connect-engines.ts'
import { finalizeUpgrade } from './operations/upgrade/finalize-upgrade.ts'
import { openStore, type Store } from './store/store.ts'
import { realClock as clock, realIds as ids } from './system-clock.ts'

export async function runFinalize(config: Config): Promise<number> {
  const { ok, text } = await withStore(config, finalizeUpgrade)
  ;(ok ? process.stdout : process.stderr).write(`${text}\n`)
  return ok ? 0 : 1
}

async function withStore<T>(config: Config, work: (store: Store) => Promise<T>): Promise<T> {
  const log = pino({ level: 'error' }, process.stderr)
  const engine = connectEtcd(config, log)
  try {
    const { root } = config.etcd
    const onUnreadable = (key: string) => log.error({ key }, 'stored record cannot be decoded')
    const store = await openStore({ engine, clock, ids, root, onUnreadable })
    return await work(store).finally(() => store.close())
  } finally {
    engine.close()
  }
}
