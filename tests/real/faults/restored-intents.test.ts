// The write of a secret was in progress when a backup was taken, and its version was pinned afterwards. The restored store has
// the intent and not the pin, so the sweep of intents would destroy the version. It never does: servers that know more do
// not write, and `restored` deletes the intents.

import type { SecretPath } from '@holdfast/server/ports/secrets-store'
import { declareRestored } from '@holdfast/server/operations/restore/declare-restored'
import { consumeIntent, intentIdOf, intentOf } from '@holdfast/server/operations/secrets/versions/intents'
import { sweepIntents } from '@holdfast/server/operations/secrets/versions/sweep-intents'
import type { SweepDeps } from '@holdfast/server/operations/secrets/versions/sweep-intents'
import { credentials, intents } from '@holdfast/server/store/records'
import { requireEpoch } from '@holdfast/server/store/require-epoch'
import type { Store } from '@holdfast/server/store/store'
import { globally, inTenant } from '@holdfast/server/store/transaction'
import { realClock as clock, realIds as ids } from '@holdfast/server/system-clock'
import { startEtcd, uniqueName } from '@holdfast/testkit'
import { takeSnapshot } from '@holdfast/testkit/faults/etcd-snapshot'
import { addTenant, write } from '@holdfast/testkit/session/session-records'
import { openTestStore } from '@holdfast/testkit/store/open-test-store'
import { expect, onTestFinished, test } from 'vitest'

const PATH: SecretPath = { namespace: 'deployments', label: 'db' }
const VERSION = 3
/** A clock ahead of the real one by more than the time after which an intent is abandoned. */
const LATER = { now: () => clock.now() + 120_000 }

test('the sweep destroys no version that was pinned after the backup', async () => {
  const cluster = await startEtcd()
  onTestFinished(() => cluster.stop())
  const root = `/${uniqueName('restored')}`
  const open = async () => {
    const opened = await openTestStore({ endpoints: cluster.endpoints, root, deadlineMs: 3_000 })
    onTestFinished(() => opened.close())
    return opened.store
  }
  const running = await open()
  await requireEpoch(running, { clock, ids })
  const tenant = await addTenant(running)
  const intent = intentIdOf(tenant, PATH, VERSION)
  await write(running, (transaction) =>
    transaction.put(globally(intents, intent), {
      ...intentOf(tenant, PATH, VERSION),
      createdAt: new Date(clock.now()).toISOString(),
    }),
  )
  const snapshot = await takeSnapshot(cluster)
  await write(running, (transaction) => {
    expect(consumeIntent(transaction, { intent })).toBe(true)
    transaction.put(inTenant(tenant, credentials, PATH.label), aCredential)
  })
  expect(await sweep(running)).toEqual([])
  await snapshot.restore({})

  // A server that ran knows that the intent is gone, and may not write.
  expect(await sweep(running).catch(() => [])).toEqual([])
  await expect(running.fresh()).rejects.toThrow('went back')
  const operator = await open()
  expect(operator.listWithIds(intents).map(({ id }) => id)).toEqual([intent])
  await declareRestored({ store: operator, clock, ids }, [])
  const restarted = await open()
  expect(await sweep(restarted)).toEqual([])
  expect(restarted.listWithIds(intents)).toEqual([])

  // The same backup without a declaration would have lost the version.
  await snapshot.restore({})
  expect(await sweep(await open())).toEqual([VERSION])
})

const aCredential = {
  v: 1,
  label: PATH.label,
  namespace: PATH.namespace,
  consumers: [],
  versions: [{ version: VERSION, keys: ['password'], createdAt: '' }],
  initial: VERSION,
  slot: 0,
}

/** The versions that a sweep destroys. */
async function sweep(store: Store): Promise<number[]> {
  const destroyed: number[] = []
  const secrets: SweepDeps['secrets'] = {
    currentVersion: async () => ({ kind: 'ok', version: VERSION, versions: [] }),
    writeVersion: async () => ({ kind: 'conflict' }),
    destroyVersion: async (_tenant, _path, version) => {
      destroyed.push(version)
      return { kind: 'ok' }
    },
  }
  await sweepIntents({ store, clock: LATER, secrets })
  return destroyed
}
