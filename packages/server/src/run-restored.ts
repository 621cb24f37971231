// `holdfast-server restored`: declares that etcd was restored from a backup, or confirms the restored store
// (docs/guides/configuration.md#when-etcd-is-damaged-or-restored).

import { env } from 'node:process'
import { isTenantId } from '@holdfast/contract'
import pino from 'pino'
import type { Config } from './config/schema.ts'
import { connectEtcd } from './connect-engines.ts'
import { openKnownStoreFile } from './lifecycle/known-store-file.ts'
import { openRevocationsFile, type Revocations } from './lifecycle/revocations-file.ts'
import { type Confirmed, confirmRestored, declareRestored } from './operations/restore/declare-restored.ts'
import { restoredText } from './operations/restore/restored-text.ts'
import { reviewRestored } from './operations/restore/review-restored.ts'
import { openStore, type Store } from './store/store.ts'
import { realClock as clock, realIds as ids } from './system-clock.ts'

export interface RestoredOptions {
  readonly confirm: boolean
  /** The tenant that is confirmed; absent: all of them. */
  readonly tenant?: string
}

export async function runRestored(config: Config, { confirm, tenant }: RestoredOptions): Promise<number> {
  return confirm ? runConfirm(config, tenant) : runDeclare(config)
}

async function runDeclare(config: Config): Promise<number> {
  const text = await withStore(config, async (store) => {
    await store.fresh()
    const review = await reviewRestored(store, clock.now(), rememberedBy(config))
    const { epoch, voided } = await declareRestored({ store, clock, ids }, knownEpochs(config))
    return restoredText(epoch, voided, review)
  })
  process.stdout.write(text)
  return 0
}

/** The epoch that the server of this machine knows: the restored store may have lost it. */
function knownEpochs(config: Config): string[] {
  const known = openKnownStoreFile(folderOf(config), () => {}).read()
  return known === undefined ? [] : [known.epoch]
}

/** The revocations that the server of this machine has seen. */
const rememberedBy = (config: Config): Revocations | undefined =>
  openRevocationsFile(folderOf(config), () => {}).read()

/** systemd names the state folder to the unit alone, and an operator runs this command by hand. */
const UNIT_STATE_FOLDER = '/var/lib/holdfast-server'

const folderOf = ({ stateFolder }: Config): string =>
  stateFolder ?? env['STATE_DIRECTORY'] ?? UNIT_STATE_FOLDER

const CONFIRM_TEXTS: { readonly [result in Confirmed]: string } = {
  confirmed: 'Confirmed. Agents remove what the store does not name from their next desired set on.',
  'nothing to confirm':
    'There is nothing to confirm: the store was not declared restored, or it is confirmed already. After a restore, run `holdfast-server restored` first.',
  'too many tenants': 'Too many tenants are confirmed one by one. Run this without --tenant to confirm all.',
  'unknown tenant': 'The store has no tenant with this id. `GET /api/v1/tenants` lists the ids.',
}

async function runConfirm(config: Config, tenant: string | undefined): Promise<number> {
  const result =
    tenant !== undefined && !isTenantId(tenant)
      ? 'unknown tenant'
      : await withStore(config, (store) => confirmRestored({ store }, tenant))
  const ok = result === 'confirmed'
  ;(ok ? process.stdout : process.stderr).write(`${CONFIRM_TEXTS[result]}\n`)
  return ok ? 0 : 1
}

async function withStore<T>(config: Config, work: (store: Store) => Promise<T>): Promise<T> {
  const log = pino({ level: 'error' }, process.stderr)
  const engine = connectEtcd(config, log)
  const onUnreadable = (key: string): void => log.error({ key }, 'stored record cannot be decoded')
  try {
    const store = await openStore({ engine, clock, ids, root: config.etcd.root, onUnreadable })
    return await work(store).finally(() => store.close())
  } finally {
    engine.close()
  }
}
