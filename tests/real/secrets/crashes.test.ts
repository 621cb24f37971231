// A server is killed at any call of a write with secret values. Afterwards either the deployment exists with its pinned
// version, or nothing exists; and after the janitor has run, every version has a pin.

import type { Json, TenantId } from '@holdfast/contract'
import { connectSecretsWriter } from '@holdfast/server/connect-engines'
import type { Caller, Outcome } from '@holdfast/server/operations/caller'
import type { DeploymentDeps } from '@holdfast/server/operations/deployments/deps'
import { createDeployment } from '@holdfast/server/operations/deployments/write/create-deployment'
import { updateDeployment } from '@holdfast/server/operations/deployments/write/update-deployment'
import type { Written } from '@holdfast/server/operations/deployments/write/written'
import { markForDestruction } from '@holdfast/server/operations/secrets/versions/destroy-versions'
import {
  consumeIntent,
  consumeIntents,
  type StagedVersion,
} from '@holdfast/server/operations/secrets/versions/intents'
import { stageMaterial } from '@holdfast/server/operations/secrets/versions/stage-material'
import { stageVersion } from '@holdfast/server/operations/secrets/versions/stage-version'
import { sweepIntents } from '@holdfast/server/operations/secrets/versions/sweep-intents'
import { EngineError } from '@holdfast/server/ports/key-value'
import { secret } from '@holdfast/server/ports/secret'
import {
  credentials,
  deployments,
  intents,
  registryCredentials,
  tokens,
} from '@holdfast/server/store/records'
import { type Store, StoreUnavailableError } from '@holdfast/server/store/store'
import { globally, inTenant } from '@holdfast/server/store/transaction'
import { realClock as clock, realIds as ids } from '@holdfast/server/system-clock'
import { type SecretsStore, sharedSecretsStore } from '@holdfast/testkit'
import type { DeathMoment } from '@holdfast/testkit/controllers/mortal-engine'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import { deploymentDeps } from '@holdfast/testkit/secrets/deployment-deps'
import {
  createMortalProcess,
  type MortalProcess,
  type StoreCalls,
} from '@holdfast/testkit/secrets/mortal-process'
import { createStoreEye, liveVersions } from '@holdfast/testkit/secrets/store-eye'
import { openTestStore, type TestStore } from '@holdfast/testkit/store/open-test-store'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/** A clock ahead of the real one by more than the time after which an intent is abandoned. */
const LATER = { now: () => clock.now() + 120_000 }

let platform: Platform
let engines: SecretsStore
let observer: TestStore
let store: Store
let writer: StoreCalls
let tenant: TenantId
let caller: Caller
let serial = 0

beforeAll(async () => {
  engines = await sharedSecretsStore()
  platform = await ownPlatform()
  writer = connectSecretsWriter(platform.config)
  observer = await open()
  store = observer.store
  tenant = platform.acme.id as TenantId
  const token = store.list(tokens).find(({ record }) => record.tenant === tenant)?.record.id
  if (token === undefined) throw new Error('the tenant has no token')
  caller = { tenant, token, role: 'tenant-admin', onBehalf: false, requestId: 'req_test' }
})
afterAll(async () => {
  observer.close()
  await platform.stop()
})

async function open(process?: MortalProcess): Promise<TestStore> {
  const { endpoints } = platform.config.etcd
  return openTestStore({ endpoints, root: platform.root, ...(process && { wrap: process.wrapEngine }) })
}

const storedVersions = () => createStoreEye({ ...engines, tenant }).everything()

const create = (deps: DeploymentDeps, sent: Json): Promise<Outcome<Written>> =>
  createDeployment(deps, caller, sent, {
    idempotency: undefined,
    answerOf: (body) => ({ status: 201, body }),
  })

const put = (deps: DeploymentDeps, name: string, sent: Json): Promise<Outcome<Written>> =>
  updateDeployment(deps, caller, name, sent, { ifMatch: undefined })

const secretsOf = (name: string, value: string): Json => [
  { name: 'ONE', vault_path: `deployments/${name}`, values: { PASSWORD: value } },
  { name: 'TWO', vault_path: `resources/${name}-two`, generate: { keys: ['TOKEN'] }, anchor: 'process' },
]

const body = (name: string): Json => ({
  kind: 'Deployment',
  name,
  image: 'registry.test/web:1.0',
  replicas: 0,
  secrets: secretsOf(name, 'first'),
})

const labelsOf = (name: string): [path: string, label: string][] => [
  [`deployments/${name}`, name],
  [`resources/${name}-two`, `${name}-two`],
]

/** All records of one deployment, in etcd and in the secrets store. */
async function seen(name: string) {
  await store.fresh()
  const versions = liveVersions(await storedVersions())
  const deployment = store.get(inTenant(tenant, deployments, name))?.record
  return {
    deployment,
    open: store.listWithIds(intents).filter(({ record }) => record.resource.startsWith(name)),
    labels: labelsOf(name).map(([path, label]) => ({
      live: versions[path] ?? [],
      listed:
        store.get(inTenant(tenant, credentials, label))?.record.versions.map(({ version }) => version) ?? [],
      pinned: deployment?.pins?.[label],
    })),
  }
}

async function sweep(): Promise<void> {
  await store.fresh()
  await sweepIntents({ store, clock: LATER, secrets: writer })
}

/** Checks that every listed version exists, every pinned version is listed, and there are no other versions. */
async function expectConsistent(name: string): Promise<Awaited<ReturnType<typeof seen>>> {
  const before = await seen(name)
  for (const { live, listed, pinned } of before.labels) {
    expect(live).toEqual(expect.arrayContaining(listed))
    if (before.deployment !== undefined) expect(listed).toContain(pinned)
    else expect(listed).toEqual([])
  }
  await sweep()
  const after = await seen(name)
  expect(after.deployment).toEqual(before.deployment)
  expect(after.open).toEqual([])
  for (const { live, listed } of after.labels) expect(live).toEqual(listed)
  return after
}

/** Runs a write in a process that dies at a given call. Returns false if the write ended before that call. */
async function dies(
  atCall: number,
  moment: DeathMoment,
  work: (opened: Store, secrets: StoreCalls) => Promise<unknown>,
): Promise<boolean> {
  const process = createMortalProcess(atCall, moment)
  const opened = await open(process)
  process.arm()
  const ended = work(opened.store, process.wrapSecrets(writer)).then(
    () => false,
    () => false,
  )
  const died = await Promise.race([process.death.then(() => true), ended])
  opened.close()
  return died
}

function named(): string {
  serial += 1
  return `c${serial}`
}

describe.each(['before', 'after'] as const)('a server that dies %s the store executes a call', (moment) => {
  test('of a create leaves the deployment with its versions, or nothing', { timeout: 120_000 }, async () => {
    const ends = new Set<string>()
    let atCall = 1
    for (; ; atCall += 1) {
      const name = named()
      const died = await dies(atCall, moment, (opened, secrets) =>
        create(deploymentDeps(opened, secrets), body(name)),
      )
      const { deployment, labels } = await expectConsistent(name)
      ends.add(deployment === undefined ? 'nothing' : 'all')
      for (const { live } of labels) expect(live).toHaveLength(deployment === undefined ? 0 : 1)
      // The next create of this deployment succeeds, whatever records the dead process left.
      const again =
        deployment === undefined ? await create(deploymentDeps(store, writer), body(name)) : undefined
      expect(again?.ok ?? true).toBe(true)
      await expectConsistent(name)
      if (!died) break
    }
    expect(ends).toEqual(new Set(['nothing', 'all']))
    // The process died at each call of the write: validation, two intents, two versions and the transaction.
    expect(atCall).toBeGreaterThan(7)
  })

  test('of a PUT with new values leaves the old version or the new one', { timeout: 120_000 }, async () => {
    let atCall = 1
    for (; ; atCall += 1) {
      const name = named()
      expect((await create(deploymentDeps(store, writer), body(name))).ok).toBe(true)
      const sent = { secrets: secretsOf(name, 'second') }
      const died = await dies(atCall, moment, (opened, secrets) =>
        put(deploymentDeps(opened, secrets), name, sent),
      )
      const { deployment, labels } = await expectConsistent(name)
      expect(labels[0]?.pinned).toBe(deployment?.revision)
      if (!died) break
    }
    expect(atCall).toBeGreaterThan(5)
  })

  test('of the janitor leaves work that another janitor completes', { timeout: 120_000 }, async () => {
    let atCall = 1
    for (; ; atCall += 1) {
      const name = named()
      const kinds = [await abandon(name, true), await abandon(`${name}-two`, false)]
      const died = await dies(atCall, moment, (opened, secrets) =>
        sweepIntents({ store: opened, clock: LATER, secrets }),
      )
      await sweep()
      const { open: left, labels } = await seen(name)
      expect([left, labels[0]?.live]).toEqual([[], []])
      for (const staged of kinds) expect(await pin(staged)).toBe(false)
      if (!died) break
    }
    expect(atCall).toBeGreaterThan(5)
  })
})

test('no version is destroyed while the outcome of a write is unknown', async () => {
  const name = named()
  let lost = false
  const { endpoints } = platform.config.etcd
  const opened = await openTestStore({
    // The deadline is long enough for every answered call, even on a busy machine; only the lost answer exceeds it.
    endpoints,
    root: platform.root,
    deadlineMs: 3_000,
    wrap: (engine) => ({
      ...engine,
      async transact(request, options) {
        if (lost) throw new EngineError('unavailable', 'no', 'away')
        const answer = await engine.transact(request, options)
        lost = JSON.stringify(request).includes(`/dep/${name}/"`)
        if (lost && request.success.length > 0) throw new EngineError('deadline', 'unknown', 'no answer')
        return answer
      },
    }),
  })
  await expect(create(deploymentDeps(opened.store, writer), body(name))).rejects.toThrow(
    StoreUnavailableError,
  )
  opened.close()
  expect(lost).toBe(true)
  const { deployment, labels } = await expectConsistent(name)
  expect(deployment?.revision).toBe(1)
  expect(labels.map(({ live }) => live)).toEqual([[1], [1]])
})

/** Writes an abandoned intent, with or without the version that the intent announces. */
async function abandon(label: string, written: boolean): Promise<StagedVersion> {
  const path = { namespace: 'deployments', label }
  const staged = await stageVersion(
    { store, clock, secrets: written ? writer : forgetful() },
    caller,
    path,
    DOCUMENT,
  )
  if (!staged.ok) throw new Error('nothing was staged')
  return staged.value
}

const DOCUMENT = new Map([['K', secret('a value')]])

/** Secrets-store calls that report a successful write without writing, like a process that died before its request. */
const forgetful = (): StoreCalls => ({
  ...writer,
  writeVersion: async (_tenant, _path, _document, cas) => ({ kind: 'ok', version: cas + 1 }),
})

/** Consumes the intent like a writer that continues late. Returns false if the intent was abandoned in between. */
const pin = (staged: StagedVersion): Promise<boolean> =>
  store.transact((transaction) => {
    const mine = consumeIntent(transaction, staged)
    return mine ? { kind: 'commit', result: true } : { kind: 'abort', result: false }
  })

describe('a version number', () => {
  test('of an abandoned write is used up: the next writer gets the next one, and the late writer fails', async () => {
    const name = named()
    const late = await abandon(name, false)
    const next = await stageVersion({ store, clock, secrets: writer }, caller, late.path, DOCUMENT)
    expect(next).toMatchObject({ ok: true, value: { version: 2 } })
    expect(await pin(late)).toBe(false)
    expect((await storedVersions())[`deployments/${name}`]).toEqual([-1, 2])
    // A delayed write fails, because its version number is already used.
    expect(await writer.writeVersion(tenant, late.path, DOCUMENT, 0)).toEqual({ kind: 'conflict' })
  })

  test.each<[string, 'before' | 'after' | 'twice']>([
    ['was applied', 'after'],
    ['was not applied', 'before'],
    ['was applied late', 'twice'],
  ])('whose write has no answer is read back: the write %s', async (_what, moment) => {
    const name = named()
    let lost = false
    const losing: StoreCalls = {
      ...writer,
      async writeVersion(...parameters) {
        if (lost && moment === 'twice') await writer.writeVersion(...parameters)
        if (lost) return writer.writeVersion(...parameters)
        lost = true
        if (moment === 'after') await writer.writeVersion(...parameters)
        return { kind: 'unavailable', cause: 'timeout', applied: 'unknown' }
      },
    }
    const path = { namespace: 'deployments', label: name }
    const staged = await stageVersion({ store, clock, secrets: losing }, caller, path, DOCUMENT)
    if (!staged.ok) throw new Error('nothing was staged')
    expect(staged.value.version).toBe(1)
    expect(await pin(staged.value)).toBe(true)
    expect((await storedVersions())[`deployments/${name}`]).toEqual([1])
  })

  test('of several that were staged together cannot be pinned after one of them is abandoned', async () => {
    const name = named()
    const wanted = ['a', 'b'].map((which) => ({
      namespace: 'resources',
      label: `${name}-${which}`,
      values: new Map([['K', 'a value']]),
    }))
    const created = await stageMaterial({ store, clock, ids, secrets: writer }, caller, wanted)
    const staged = created.ok ? created.value.flatMap((one) => one.stagedVersion ?? []) : []
    expect(staged.map(({ version }) => version)).toEqual([1, 1])
    await markForDestruction({ store }, staged[1]?.intent ?? '')
    const pinned = await store.transact((transaction) =>
      consumeIntents(transaction, staged)
        ? { kind: 'commit', result: true }
        : { kind: 'abort', result: false },
    )
    expect(pinned).toBe(false)
    await sweep()
    const versions = await storedVersions()
    expect([versions[`resources/${name}-a`], versions[`resources/${name}-b`]]).toEqual([[-1], [-1]])
  })

  test('that a record lists is never destroyed, whatever intent is left of it', async () => {
    const name = named()
    expect((await create(deploymentDeps(store, writer), body(name))).ok).toBe(true)
    await store.transact((transaction) => {
      for (const [namespace, resource] of [
        ['deployments', name],
        ['resources', `${name}-two`],
      ] as const) {
        const intent = { v: 1, tenant, namespace, resource, version: 1, createdAt: new Date(0).toISOString() }
        transaction.put(globally(intents, `${tenant}/${namespace}/${resource}/1`), intent)
      }
      return { kind: 'commit', result: undefined }
    })
    const { labels, open: left } = await expectConsistent(name)
    expect(labels.map(({ live }) => live)).toEqual([[1], [1]])
    expect(left).toEqual([])
  })

  test('of a registry credential is kept if it is the current one, and destroyed if not', async () => {
    const registryHost = 'registry.test:443'
    const stage = async () => {
      const staged = await stageVersion({ store, clock, secrets: writer }, caller, { registryHost }, DOCUMENT)
      if (!staged.ok) throw new Error('nothing was staged')
      return staged.value
    }
    const counts = await stage()
    await store.transact((transaction) => {
      const record = {
        v: 1,
        host: registryHost,
        version: counts.version,
        updatedAt: new Date(0).toISOString(),
      }
      transaction.put(inTenant(tenant, registryCredentials, registryHost), record)
      return { kind: 'commit', result: undefined }
    })
    await stage()
    await sweep()
    expect((await storedVersions())['registries/registry.test_443']).toEqual([1, -2])
  })

  test('of a deleted tenant is released', async () => {
    const stranger = '11111111-1111-4111-8111-111111111111' as TenantId
    const intent = { v: 1, tenant: stranger, namespace: 'deployments', resource: named(), version: 1 }
    await store.transact((transaction) => {
      const createdAt = new Date(0).toISOString()
      transaction.put(globally(intents, `${stranger}/deployments/x/1`), { ...intent, createdAt })
      return { kind: 'commit', result: undefined }
    })
    await store.fresh()
    await sweep()
    await store.fresh()
    expect(store.listWithIds(intents).filter(({ record }) => record.tenant === stranger)).toEqual([])
  })
})
