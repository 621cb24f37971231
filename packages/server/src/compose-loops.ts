// Composes the clean-up loops, which every server replica with the role api or controllers runs.

import { NO_SPACE } from '@holdfast/core'
import type { Logger } from 'pino'
import type { ClientCertificates } from './compose-clients.ts'
import type { Config } from './config/schema.ts'
import { connectMaintenance } from './connect-engines.ts'
import { createCompaction } from './loops/compact-history.ts'
import { finishRemovals } from './loops/finish-removals.ts'
import { sweepChains } from './loops/leadership/heartbeat-chain.ts'
import { type Repeating, repeat } from './loops/repeat.ts'
import { applyRetention, boundBytes } from './loops/retention.ts'
import type { StorePressure } from './loops/store-pressure.ts'
import { createKeeper } from './loops/upkeep/choose-keeper.ts'
import { createUpkeep, type DefragmentationOutcome } from './loops/upkeep/keep-store.ts'
import { sweepBackupDrafts } from './operations/backups/backup-drafts.ts'
import { sweepExecTickets } from './operations/deployments/exec/open-exec.ts'
import { retainJobs } from './operations/jobs/retain-jobs.ts'
import { sweepJoinTokens } from './operations/nodes/clean-up-nodes.ts'
import { sweepIntents } from './operations/secrets/versions/sweep-intents.ts'
import { sweepSignIns } from './operations/sign-ins/sign-in-record.ts'
import { sweepMounts } from './operations/tenants/new-mounts.ts'
import { sweepTokens } from './operations/tenants/tokens.ts'
import type { KeyValueEngine } from './ports/key-value.ts'
import type { SecretsWriter } from './ports/secrets-store.ts'
import { networks, placements, removals, volumes } from './store/records.ts'
import { createReserve } from './store/reserve.ts'
import type { Store } from './store/store.ts'
import { realClock as clock } from './system-clock.ts'

interface LoopDeps {
  readonly config: Config
  readonly log: Logger
  readonly store: Store
  readonly engine: KeyValueEngine
  readonly secrets: SecretsWriter
  readonly pressure: StorePressure
  readonly clients: Pick<ClientCertificates, 'etcd'>
  /** The id of this server replica. */
  readonly replica: string
  /** Counts the defragmentations of this server. */
  readonly defragmentations: Map<string, number>
}

const SECOND_MS = 1000
/** The records that keep a deployment or a tenant from being removed. */
const MOVED: readonly string[] = [placements.folder, volumes.folder, networks.folder]

export function startLoops(deps: LoopDeps): Repeating[] {
  const { config, log, store, engine, secrets } = deps
  const { retention } = config
  const loop = (name: string, everyMs: number, work: () => Promise<void>) =>
    repeat(everyMs, work, (error) => log.warn({ loop: name, error: String(error) }, 'loop failed, retrying'))
  const removing = loop('removals', 30 * SECOND_MS, () =>
    finishRemovals({
      store,
      clock,
      removeTenantSecrets: async (tenant) => (await secrets.removeTenant(tenant)).kind === 'ok',
    }),
  )
  // The clean-up runs when a deletion was requested, and when the last container of a deleted deployment, or the
  // last data of a deleted tenant, may be gone.
  store.subscribe((changes) => {
    const asked = changes.some(({ kind, key }) => kind === 'put' && key.folder === removals.folder)
    const moved = changes.some(({ key }) => MOVED.includes(key.folder))
    if (asked || (moved && store.listWithIds(removals).length > 0)) removing.nudge()
  })
  const keeping = openUpkeep(deps)
  const upkeep = loop('upkeep', SECOND_MS, keeping.run)
  upkeep.nudge()
  return [
    removing,
    loop('compaction', 60 * SECOND_MS, createCompaction({ engine, currentRevision: () => store.revision })),
    stopThen(upkeep, keeping.close),
    loop('retention', 60 * SECOND_MS, () => applyRetention({ store, clock, retention })),
    loop('bytes', 5 * SECOND_MS, () => boundBytes({ store, clock, retention })),
    loop('join tokens', 60 * SECOND_MS, () => sweepJoinTokens({ store, clock })),
    loop('tokens', 60 * SECOND_MS, () => sweepTokens({ store, clock })),
    loop('exec tickets', 60 * SECOND_MS, () => sweepExecTickets({ store, clock })),
    loop('sign-ins', 60 * SECOND_MS, () => sweepSignIns({ store, clock })),
    loop('heartbeat chains', 60 * SECOND_MS, () => sweepChains({ store, clock })),
    loop('backup drafts', 60 * SECOND_MS, () => sweepBackupDrafts({ store, clock })),
    loop('jobs', 60 * SECOND_MS, () => retainJobs({ store, clock })),
    loop('mounts', 30 * SECOND_MS, () => sweepMounts({ store, clock, secrets })),
    loop('intents', 30 * SECOND_MS, () => sweepIntents({ store, clock, secrets })),
  ]
}

/** Composes the upkeep of etcd, which has connections of its own: a member is addressed, not whichever answers. */
function openUpkeep(deps: LoopDeps): {
  run(): Promise<void>
  close(): void
} {
  const { config, clients, log, store, engine, pressure, replica, defragmentations } = deps
  const maintenance = connectMaintenance(config, clients.etcd)
  const { endpoints, quotaBytes, defragmentation } = config.etcd
  const { enabled, freePercent, minimumBytes, intervalSeconds } = defragmentation
  const count = (outcome: DefragmentationOutcome): void => {
    defragmentations.set(outcome, (defragmentations.get(outcome) ?? 0) + 1)
  }
  const run = createUpkeep({
    engine,
    maintenance,
    pressure,
    reserve: createReserve(engine, store.keyspace, quotaBytes),
    endpoints,
    rules: enabled
      ? { freeShare: freePercent / 100, minimumBytes, intervalMs: intervalSeconds * SECOND_MS }
      : undefined,
    log,
    isKeeper: createKeeper({
      store,
      replica,
      isFull: () => pressure.alarms?.includes(NO_SPACE) === true,
      now: () => performance.now(),
    }),
    currentRevision: () => store.revision,
    onDefragmented: count,
  })
  return { run, close: maintenance.close }
}

const stopThen = (loop: Repeating, close: () => void): Repeating => ({
  nudge: loop.nudge,
  async stop() {
    await loop.stop()
    close()
  },
})
