// A server dies at each call to the store while it writes a backup. The backup is then visible and whole, or not visible
// at all, and what is left of it is swept. A backup shows one revision of its deployment, also if the deployment changes
// while it is copied.

import { asTokenId, type Backup, type Json, type TenantId } from '@holdfast/contract'
import { sweepBackupDrafts } from '@holdfast/server/operations/backups/backup-drafts'
import { createBackup } from '@holdfast/server/operations/backups/create-backup'
import { deleteBackup } from '@holdfast/server/operations/backups/delete-backup'
import { getBackup } from '@holdfast/server/operations/backups/read-backups'
import { restoreBackup } from '@holdfast/server/operations/backups/restore-backup'
import type { Caller, Outcome } from '@holdfast/server/operations/caller'
import { createDeployment } from '@holdfast/server/operations/deployments/write/create-deployment'
import { updateDeployment } from '@holdfast/server/operations/deployments/write/update-deployment'
import { EngineError, type KeyValueEngine } from '@holdfast/server/ports/key-value'
import { backupDrafts, backupParts, backups, slots, tokens } from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'
import { globally } from '@holdfast/server/store/transaction'
import { realClock as clock, realIds as ids } from '@holdfast/server/system-clock'
import { uniqueName } from '@holdfast/testkit'
import type { DeathMoment } from '@holdfast/testkit/controllers/mortal-engine'
import * as world from '@holdfast/testkit/controllers/placing-world'
import { deploymentDeps } from '@holdfast/testkit/secrets/deployment-deps'
import { createMortalProcess } from '@holdfast/testkit/secrets/mortal-process'
import { openTestStore, type TestStore } from '@holdfast/testkit/store/open-test-store'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/** A clock ahead of the real one by more than the time after which a draft is abandoned. */
const LATER = { now: () => clock.now() + 1_200_000 }
/** The deployment has four revisions of 200 KB each, so that its backup has several parts. */
const LONG_ARGUMENT = 'x'.repeat(200_000)
const NAME = 'web'

const root = `/${uniqueName('backups')}`
let observer: TestStore
let store: Store

beforeAll(async () => {
  observer = await openTestStore({ root })
  store = observer.store
})
afterAll(() => observer.close())

const NO_SECRETS = {
  currentVersion: () => Promise.reject(new Error('no secrets here')),
  writeVersion: () => Promise.reject(new Error('no secrets here')),
  destroyVersion: () => Promise.reject(new Error('no secrets here')),
}
const quotas = { limit: () => 2 ** 30, list: () => ({ items: [] }) }
const depsOn = (opened: Store) => ({ ...deploymentDeps(opened, NO_SECRETS), quotas })
const unkept = <T extends object>() => ({
  idempotency: undefined,
  answerOf: (body: T) => ({ status: 201, body }),
})

function accepted<T>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.rejections))
  return outcome.value
}

/** A caller in a tenant of its own with the deployment `web`, four revisions of it. */
async function prepare(): Promise<Caller> {
  const tenant = await world.addTenant(store)
  const token = asTokenId(`tok_${ids.ulid()}`)
  const role = 'tenant-admin' as const
  await world.write(store, (transaction) =>
    transaction.put(globally(tokens, token), {
      v: 1,
      id: token,
      tenant,
      name: 'test',
      role,
      secretHash: '',
      createdAt: new Date(0).toISOString(),
      expiresAt: new Date(2 ** 42).toISOString(),
    }),
  )
  const caller = { tenant, token, role, onBehalf: false, requestId: 'req_test' }
  const body = { kind: 'Deployment', name: NAME, image: 'registry.test/web:1.0', replicas: 0 }
  accepted(await createDeployment(depsOn(store), caller, { ...body, args: [LONG_ARGUMENT] }, unkept()))
  for (const args of [['1'], ['2'], ['3']]) await change(caller, { args: [LONG_ARGUMENT, ...args] })
  return caller
}

const change = async (caller: Caller, sent: Json) =>
  accepted(await updateDeployment(depsOn(store), caller, NAME, sent, { ifMatch: undefined }))

const backUp = (opened: Store, caller: Caller): Promise<Outcome<Backup>> =>
  createBackup(depsOn(opened), caller, { deploymentName: NAME }, unkept())

/** Counts what is stored of backups in a tenant. */
async function stored(tenant: TenantId) {
  await store.fresh()
  return {
    visible: store.list(backups, tenant).map(({ record }) => record.id),
    drafts: store.keysOf(backupDrafts, tenant).length,
    parts: store.keysOf(backupParts, tenant).length,
    slots: store.keysOf(slots, tenant).filter(({ id }) => id.startsWith('backups/')).length,
  }
}

/** Runs work in a process that dies at a given call. Returns false if the work ended before that call. */
async function dies(
  atCall: number,
  moment: DeathMoment,
  work: (opened: Store) => Promise<unknown>,
): Promise<boolean> {
  const process = createMortalProcess(atCall, moment)
  const opened = await openTestStore({ root, wrap: process.wrapEngine })
  process.arm()
  const ended = work(opened.store).then(
    () => false,
    () => false,
  )
  const died = await Promise.race([process.death.then(() => true), ended])
  opened.close()
  return died
}

describe.each(['before', 'after'] as const)('a server that dies %s the store executes a call', (moment) => {
  test('of a backup leaves a whole backup, or none and nothing after the sweep', async () => {
    const caller = await prepare()
    const { tenant } = caller
    const ends = new Set<string>()
    let [atCall, leftParts] = [1, 0]
    for (; ; atCall += 1) {
      const died = await dies(atCall, moment, (opened) => backUp(opened, caller))
      const left = await stored(tenant)
      const [id] = left.visible
      ends.add(id === undefined ? 'none' : 'whole')
      expect(left.slots).toBe(left.visible.length)
      if (id === undefined) leftParts = Math.max(leftParts, left.parts)
      // A draft that is not old may belong to a server that is still writing.
      await sweepBackupDrafts({ store, clock })
      expect(await stored(tenant)).toEqual(left)
      await sweepBackupDrafts({ store, clock: LATER })
      const swept = await stored(tenant)
      expect(swept).toMatchObject({ visible: left.visible, drafts: 0 })
      if (id === undefined) expect(swept.parts).toBe(0)
      else {
        expect(accepted(await getBackup(store, tenant, id)).revisions).toHaveLength(4)
        accepted(await deleteBackup(depsOn(store), caller, id, undefined))
      }
      expect(await stored(tenant)).toEqual({ visible: [], drafts: 0, parts: 0, slots: 0 })
      if (!died) break
    }
    expect(ends).toEqual(new Set(['none', 'whole']))
    // The process died between the parts and the transaction that makes them a backup. Parts are written side by side, so
    // the death after one of them may come before the others are executed.
    expect(leftParts).toBeGreaterThan(2)
    expect(atCall).toBeGreaterThan(7)
  })

  test('of a restore leaves the deployment as it was, or as the backup has it', async () => {
    const caller = await prepare()
    const { id } = accepted(await backUp(store, caller))
    const ends = new Set<string>()
    let atCall = 1
    for (; ; atCall += 1) {
      const changed = await change(caller, { args: [`changed ${atCall}`] })
      const died = await dies(atCall, moment, (opened) =>
        restoreBackup(depsOn(opened), caller, id, { ifMatch: undefined, ...unkept() }),
      )
      const now = await change(caller, {})
      const isRestored = now.deployment.args?.[0] === LONG_ARGUMENT
      ends.add(isRestored ? 'restored' : 'unchanged')
      expect(now.deployment.revision).toBe(changed.deployment.revision + (isRestored ? 1 : 0))
      if (!died) break
    }
    expect(ends).toEqual(new Set(['restored', 'unchanged']))
  })
})

test('a backup of a deployment that changes while it is copied contains the newer revision and no part of the older copy', async () => {
  const caller = await prepare()
  let changes = 0
  // The deployment changes after the first copy has written its parts.
  const overtaken: Store = {
    ...store,
    transact: async (decide) => {
      const result = await store.transact(decide)
      if ((await stored(caller.tenant)).parts === 4 && changes === 0) {
        changes += 1
        await change(caller, { args: ['newest'] })
      }
      return result
    },
  }
  const { id, deploymentRevision } = accepted(await backUp(overtaken, caller))
  expect([changes, deploymentRevision]).toEqual([1, 5])
  const read = accepted(await getBackup(store, caller.tenant, id))
  expect(read.spec.args).toEqual(['newest'])
  expect(read.revisions.map(({ revision }) => revision)).toEqual([1, 2, 3, 4, 5])
  expect(await stored(caller.tenant)).toMatchObject({ visible: [id], drafts: 0, parts: 4 })
})

test('a deployment that changes during every attempt is reported, and nothing is left', async () => {
  const caller = await prepare()
  let serial = 0
  const restless: Store = {
    ...store,
    transact: async (decide) => {
      const result = await store.transact(decide)
      serial += 1
      await change(caller, { args: [`change ${serial}`] })
      return result
    },
  }
  const outcome = await backUp(restless, caller)
  expect(outcome.ok ? [] : outcome.rejections.map(({ code }) => code)).toEqual(['store_unavailable'])
  expect(await stored(caller.tenant)).toEqual({ visible: [], drafts: 0, parts: 0, slots: 0 })
})

test('a server whose draft was swept writes no further part', async () => {
  const caller = await prepare()
  let swept = 0
  const slow: Store = {
    ...store,
    transact: async (decide) => {
      const result = await store.transact(decide)
      if ((await stored(caller.tenant)).parts === 2 && swept === 0) {
        swept += 1
        await sweepBackupDrafts({ store, clock: LATER })
      }
      return result
    },
  }
  const { id } = accepted(await backUp(slow, caller))
  expect(swept).toBe(1)
  expect(accepted(await getBackup(store, caller.tenant, id)).revisions).toHaveLength(4)
  expect(await stored(caller.tenant)).toMatchObject({ visible: [id], drafts: 0, parts: 4 })
})

test('a lost answer to any one write of a backup does not fail it', async () => {
  const caller = await prepare()
  let [atWrite, ended] = [1, false]
  for (; !ended; atWrite += 1) {
    let writes = 0
    const losing = (engine: KeyValueEngine): KeyValueEngine => ({
      ...engine,
      transact: async (...parameters) => {
        const answer = await engine.transact(...parameters)
        const [{ success }] = parameters
        if (success.some(({ kind }) => kind !== 'range')) writes += 1
        if (writes !== atWrite) return answer
        writes += 1
        throw new EngineError('deadline', 'unknown', 'no answer')
      },
    })
    const opened = await openTestStore({ root, wrap: losing })
    const { id } = accepted(await backUp(opened.store, caller))
    ended = writes < atWrite
    opened.close()
    expect(accepted(await getBackup(store, caller.tenant, id)).revisions).toHaveLength(4)
    expect(await stored(caller.tenant)).toMatchObject({ visible: [id], drafts: 0, parts: 4, slots: 1 })
    accepted(await deleteBackup(depsOn(store), caller, id, undefined))
  }
  // The draft, four parts and the last transaction.
  expect(atWrite).toBeGreaterThan(6)
})
