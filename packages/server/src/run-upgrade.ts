// `holdfast-server upgrade`: connects to the store and prints what an operator needs for an upgrade
// (docs/guides/upgrade.md).

import { VERSION } from '@holdfast/contract'
import { judgeUpgrade, type UpgradeFinding } from '@holdfast/core'
import pino from 'pino'
import type { Config } from './config/schema.ts'
import { connectEtcd } from './connect-engines.ts'
import { finalizeUpgrade } from './operations/upgrade/finalize-upgrade.ts'
import { gatherUpgradeFacts } from './operations/upgrade/gather-upgrade-facts.ts'
import { FIRST_FORMAT, formatAddress } from './store/format.ts'
import { openStore, type Store } from './store/store.ts'
import { realClock as clock, realIds as ids } from './system-clock.ts'

export async function runFinalize(config: Config): Promise<number> {
  const { ok, text } = await withStore(config, ({ store }) => finalizeUpgrade(store))
  ;(ok ? process.stdout : process.stderr).write(`${text}\n`)
  return ok ? 0 : 1
}

/** Prints the oldest version that reads what is written, for the scripts of the packages (scripts/package/downgrade-check.ts). */
export async function runOldest(config: Config): Promise<number> {
  const { by } = await withStore(config, async ({ store }) => {
    await store.fresh()
    return store.get(formatAddress)?.record ?? FIRST_FORMAT
  })
  process.stdout.write(`${by}\n`)
  return 0
}

/** Prints what blocks an upgrade to the version of this program and what follows from it; 1 if something blocks. */
export async function runPlan(config: Config, json: boolean): Promise<number> {
  const { finalize } = config.upgrade
  const findings = await withStore(config, async ({ store, unreadable }) =>
    judgeUpgrade(await gatherUpgradeFacts(store, { finalize, unreadable })),
  )
  const ok = findings.every(({ level }) => level !== 'blocks')
  process.stdout.write(json ? planJson(ok, findings) : planText(ok, findings))
  return ok ? 0 : 1
}

const planJson = (ok: boolean, findings: readonly UpgradeFinding[]): string =>
  `${JSON.stringify({ version: VERSION, ok, findings }, undefined, 2)}\n`

function planText(ok: boolean, findings: readonly UpgradeFinding[]): string {
  const lines = findings.map(({ level, text, remedy }) => `${level.padEnd(7)}  ${text} ${remedy}`)
  const end = ok ? `Nothing blocks the upgrade to ${VERSION}.` : `The upgrade to ${VERSION} is blocked.`
  return [...lines, end, ''].join('\n')
}

interface Opened {
  readonly store: Store
  /** The keys of records that cannot be decoded. */
  readonly unreadable: ReadonlySet<string>
}

async function withStore<T>(config: Config, work: (opened: Opened) => Promise<T>): Promise<T> {
  const log = pino({ level: 'error' }, process.stderr)
  const engine = connectEtcd(config, log)
  const unreadable = new Set<string>()
  const onUnreadable = (key: string): void => {
    unreadable.add(key)
    log.error({ key }, 'stored record cannot be decoded')
  }
  try {
    const store = await openStore({ engine, clock, ids, root: config.etcd.root, onUnreadable })
    return await work({ store, unreadable }).finally(() => store.close())
  } finally {
    engine.close()
  }
}
