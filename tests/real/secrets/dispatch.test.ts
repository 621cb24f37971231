// From a node's request to a sealed environment, on real etcd and a real secrets store: which node gets which secrets,
// and how the broker answers while the secrets store is unavailable.

import { openSealed } from '@holdfast/agent/session/open-sealed'
import { type AssignmentId, asOwner, consumerOf } from '@holdfast/contract'
import { openRealStore, type RealStore } from '@holdfast/server/adapters/secrets-store/real-store.fixture'
import { containerProof, proofKeyOf } from '@holdfast/server/operations/secrets/rotation/proof'
import { secret } from '@holdfast/server/ports/secret'
import { deployments, nodes, registryCredentials } from '@holdfast/server/store/records'
import { inTenant, placementAt } from '@holdfast/server/store/transaction'
import { realIds } from '@holdfast/server/system-clock'
import { uniqueName, waitUntil } from '@holdfast/testkit'
import {
  aNodeOf,
  type DispatchWorld,
  openDispatchWorld,
  opened,
  secretEntry,
} from '@holdfast/testkit/secrets/dispatch-world'
import { hostilePaths } from '@holdfast/testkit/secrets/hostile-paths'
import { type StoreProxy, startStoreProxy } from '@holdfast/testkit/secrets/store-proxy'
import { write } from '@holdfast/testkit/session/session-records'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'

/** How long the broker waits for the secrets store in the test of a slow tenant. */
const HUNG_MS = 15_000
const CANARY = `canary-${uniqueName('value')}`

let real: RealStore
let proxy: StoreProxy
let world: DispatchWorld
/** Clock of the broker's retry delays, in milliseconds. */
let now = 0
beforeAll(async () => {
  real = await openRealStore()
  proxy = await startStoreProxy(real.store.address)
})
afterAll(async () => {
  real.close()
  await proxy.stop()
})
beforeEach(async () => {
  now = 0
  proxy.calm()
  world = await openDispatchWorld({ real, address: proxy.address, nowMs: () => now })
  const { close } = world
  onTestFinished(() => close())
})

/** Creates a tenant with one node and one deployment that uses the secret `deployments/db`. */
async function oneContainer(values: { readonly [key: string]: string } = { password: CANARY }) {
  const tenant = await world.tenant()
  const node = await aNodeOf(world, tenant)
  const version = await world.put(tenant, 'db', values)
  const ask = await world.place(node, { secrets: [secretEntry('DB', 'db')] })
  return { tenant, node, version, ask, path: `kv-${tenant}/data/deployments/db` }
}

test('a node receives its sealed environment of constants, documents and templates, and nothing is read twice', async () => {
  const tenant = await world.tenant()
  const node = await aNodeOf(world, tenant)
  const literal = '{{secret.db.user}} {{secret.none.here}} }} {{'
  await world.put(tenant, 'db', { user: 'app', password: `${CANARY} ${literal}` })
  await world.put(tenant, 'api', { token: 'old' })
  await world.put(tenant, 'api', { token: 'new' })
  const ask = await world.place(node, {
    environment: { MODE: 'test', LITERAL: literal },
    secrets: [secretEntry('DB', 'db'), secretEntry('API', 'api', 2)],
    composedEnvironment: { URL: 'db://{{secret.db.user}}:{{secret.db.password}}@host' },
  })
  const answer = await world.broker.sealEnvironment(ask)
  const { assignmentId, attempt, environment, proof } = opened(node, answer)
  expect([assignmentId, attempt]).toEqual([ask.assignmentId, ask.attempt])
  expect(environment).toEqual({
    MODE: 'test',
    LITERAL: literal,
    API_token: 'new',
    DB_user: 'app',
    DB_password: `${CANARY} ${literal}`,
    URL: `db://app:${CANARY} ${literal}@host`,
  })
  const created = new Map([
    ['db', 1],
    ['api', 2],
  ])
  expect(proof).toBe(containerProof(await proofKeyOf(world.store, realIds), ask.assignmentId, created))
  expect(JSON.stringify(answer)).not.toContain(CANARY)
  const other = await aNodeOf(world, tenant)
  expect(() => opened(other, answer)).toThrow()
})

test('during a rotation the environment has the other version too', async () => {
  const { tenant, node } = await oneContainer({ password: 'old' })
  await world.put(tenant, 'db', { password: 'new' })
  const rotation = { old: 1, new: 2, since: '', startedBy: consumerOf('deployment', 'web') } as const
  const given = async (version: number, phase: 'stage' | 'overlap' | 'cutover') => {
    await world.change(tenant, 'db', { rotation: { ...rotation, phase } })
    const ask = await world.place(node, { secrets: [secretEntry('DB', 'db', version)] })
    return opened(node, await world.broker.sealEnvironment(ask)).environment
  }
  expect(await given(1, 'stage')).toEqual({ DB_password: 'old' })
  expect(await given(1, 'overlap')).toEqual({ DB_password: 'old', DB_password_NEXT: 'new' })
  expect(await given(1, 'cutover')).toEqual({ DB_password: 'old', DB_password_NEXT: 'new' })
  expect(await given(2, 'overlap')).toEqual({ DB_password: 'new' })
  expect(await given(2, 'cutover')).toEqual({ DB_password: 'new', DB_password_PREVIOUS: 'old' })
})

test('a request for another node, another tenant, another assignment or an ended one returns nothing', async () => {
  const { tenant, ask, path } = await oneContainer()
  const foreignTenant = await world.tenant()
  const [mate, foreign] = [await aNodeOf(world, tenant), await aNodeOf(world, foreignTenant)]
  const wrong = [
    { ...ask, nodeId: mate.nodeId },
    { ...ask, nodeId: foreign.nodeId },
    { ...ask, nodeId: foreign.nodeId, tenant: foreignTenant },
    { ...ask, assignmentId: 'rep_01ARZ3NDEKTSV4RRFFQ69G5FAV' as AssignmentId },
    { ...ask, attempt: 'a'.repeat(65) },
    { ...ask, attempt: '' },
  ]
  for (const each of wrong)
    expect(await world.broker.sealEnvironment(each)).toEqual({ error: 'not_assigned' })
  const at = placementAt(tenant, ask.owner)
  const placement = world.store.get(at)?.record
  if (placement === undefined) throw new Error('no placement')
  const job = asOwner('cron/cron_1')
  await write(world.store, (transaction) =>
    transaction.put(placementAt(tenant, job), { ...placement, owner: job }),
  )
  expect(await world.broker.sealEnvironment({ ...ask, owner: job })).toEqual({ error: 'not_assigned' })
  for (const desired of ['stopped', 'removed'] as const) {
    const assignments = placement.assignments.map((each) => ({ ...each, desired }))
    await write(world.store, (transaction) => transaction.put(at, { ...placement, assignments }))
    await world.store.fresh()
    expect(await world.broker.sealEnvironment(ask)).toEqual({ error: 'not_assigned' })
  }
  await write(world.store, (transaction) => transaction.put(at, placement))
  const named = inTenant(tenant, deployments, placement.name)
  const deployment = world.store.get(named)?.record
  if (deployment === undefined) throw new Error('no deployment')
  await write(world.store, (transaction) => transaction.put(named, { ...deployment, deleting: true }))
  await world.store.fresh()
  expect(await world.broker.sealEnvironment(ask)).toEqual({ error: 'not_assigned' })
  await write(world.store, (transaction) => {
    transaction.put(named, deployment)
    transaction.delete(inTenant(tenant, nodes, ask.nodeId))
  })
  expect(await world.broker.sealEnvironment(ask)).toEqual({ error: 'not_assigned' })
  expect(proxy.count(path)).toBe(0)
})

test('a broker that no longer follows the records returns nothing', { timeout: 60_000 }, async () => {
  let cut = false
  const cutOff = await openDispatchWorld({
    real,
    address: proxy.address,
    nowMs: () => now,
    wrap: (engine) => ({
      ...engine,
      watch: (request) =>
        engine.watch({
          ...request,
          onEvents: (events, reached) => cut || request.onEvents(events, reached),
          onProgress: (reached) => cut || request.onProgress(reached),
        }),
    }),
  })
  onTestFinished(() => cutOff.close())
  const tenant = await cutOff.tenant()
  const node = await aNodeOf(cutOff, tenant)
  await cutOff.put(tenant, 'db', { password: CANARY })
  const ask = await cutOff.place(node, { secrets: [secretEntry('DB', 'db')] })
  expect((await cutOff.broker.sealEnvironment(ask)).sealed).toBeDefined()
  await cutOff.store.fresh()
  cut = true
  // A write of another process makes the broker's cache outdated, and the broker cannot read etcd to update the cache.
  await world.tenant()
  // The broker's cache stays behind, so only the broker's deadline can end the call.
  expect(await cutOff.broker.sealEnvironment({ ...ask, attempt: 'b' })).toEqual({
    error: 'broker_unavailable',
  })
})

test('an attempt is answered once, a second request raises an alarm, and another attempt is answered', async () => {
  const { node, ask } = await oneContainer()
  const both = await Promise.all([world.broker.sealEnvironment(ask), world.broker.sealEnvironment(ask)])
  expect(both.map(({ error }) => error)).toEqual([undefined, 'already_answered'])
  expect(await world.broker.sealEnvironment(ask)).toEqual({ error: 'already_answered' })
  expect(world.logged.filter((line) => line.startsWith('ALARM'))).toHaveLength(2)
  expect(world.logged.join()).toContain(ask.assignmentId)
  expect(world.outcomes.sort()).toEqual(['already_answered', 'already_answered', 'sealed'])
  const next = await world.broker.sealEnvironment({ ...ask, attempt: 'attempt-2' })
  expect(opened(node, next).environment).toEqual({ DB_password: CANARY })
})

test('a registry credential is sealed for the node that pulls from it, and for no other', async () => {
  const tenant = await world.tenant()
  const [node, mate] = [await aNodeOf(world, tenant), await aNodeOf(world, tenant)]
  const keep = async (host: string, password: string) => {
    const document = new Map([
      ['username', secret('robot')],
      ['password', secret(password)],
    ])
    const written = await real.writer.writeVersion(tenant, { registryHost: host }, document, 0)
    expect(written).toMatchObject({ kind: 'ok', version: 1 })
    const record = { v: 1, host, version: 1, updatedAt: '' }
    await write(world.store, (transaction) =>
      transaction.put(inTenant(tenant, registryCredentials, host), record),
    )
  }
  await keep('registry.example:5000', CANARY)
  await keep('implied.example:443', `${CANARY}-443`)
  const ask = async (host: string) => {
    const { attempt: _attempt, ...asked } = await world.place(node, {
      image: `${host}/app@sha256:${'a'.repeat(64)}`,
    })
    return { ...asked, host }
  }
  const inUse = await ask('registry.example:5000')
  const passwordIn = (sealed = '') => JSON.parse(openSealed(node.openingKey, sealed).toString())
  const { sealed } = await world.broker.sealCredential(inUse)
  expect(passwordIn(sealed)).toEqual({ host: inUse.host, username: 'robot', password: CANARY })
  // An image name omits the default HTTPS port, so it must match a credential for port 443.
  const implied = await world.broker.sealCredential(await ask('implied.example'))
  expect(passwordIn(implied.sealed)).toMatchObject({ host: 'implied.example', password: `${CANARY}-443` })
  expect(await world.broker.sealCredential(await ask('none.example'))).toEqual({})
  const wrong = [
    { ...inUse, host: 'implied.example' },
    { ...inUse, nodeId: mate.nodeId },
    { ...inUse, host: 'registry.example' },
  ]
  for (const each of wrong) expect(await world.broker.sealCredential(each)).toEqual({ error: 'not_assigned' })
  await real.store.seal()
  expect(await world.broker.sealCredential(inUse)).toEqual({ error: 'credential_unavailable' })
  await real.store.unseal()
})

test('an attempt that got nothing may be repeated', async () => {
  const { tenant, node, ask } = await oneContainer()
  const template = { secrets: [secretEntry('DB', 'db', 2)] }
  const early = await world.place(node, template)
  const about = 'DB: missing'
  expect(await world.broker.sealEnvironment(early)).toEqual({ error: 'secret_unresolved', about })
  await world.put(tenant, 'db', { password: 'second' })
  expect(opened(node, await world.broker.sealEnvironment(early)).environment).toEqual({
    DB_password: 'second',
  })
  expect((await world.broker.sealEnvironment(ask)).sealed).toBeDefined()
})

test('an incomplete environment is named: no version, a destroyed one, no key, two sources of one variable', async () => {
  const tenant = await world.tenant()
  const node = await aNodeOf(world, tenant)
  const aboutOf = async (template: Parameters<DispatchWorld['place']>[1]) => {
    const answer = await world.broker.sealEnvironment(await world.place(node, template))
    expect(answer.sealed).toBeUndefined()
    return [answer.error, answer.about]
  }
  expect(await aboutOf({ secrets: [secretEntry('DB', 'none')] })).toEqual([
    'secret_unresolved',
    'DB: missing',
  ])
  await world.put(tenant, 'db', { password: CANARY })
  await real.writer.destroyVersion(tenant, { namespace: 'deployments', label: 'db' }, 1)
  expect(await aboutOf({ secrets: [secretEntry('DB', 'db')] })).toEqual(['secret_unresolved', 'DB: missing'])
  await world.put(tenant, 'app', { token: CANARY })
  const secrets = [secretEntry('APP', 'app')]
  const composedEnvironment = { URL: '{{secret.app.nothing}}' }
  expect(await aboutOf({ secrets, composedEnvironment })).toEqual([
    'secret_unresolved',
    'APP: missing_key 1 nothing URL',
  ])
  const environment = { APP_token: 'mine' }
  expect(await aboutOf({ secrets, environment })).toEqual(['secret_unresolved', 'APP: conflict'])
  expect(world.logged.join()).not.toContain(CANARY)
})

test('a path that the store denies is read once in half a minute, and recovers automatically', async () => {
  const { tenant, node, ask, path } = await oneContainer()
  const policy = `${real.store.address}/v1/sys/policies/acl/broker-${tenant}`
  const headers = { 'x-vault-token': real.store.rootToken }
  await fetch(policy, { method: 'DELETE', headers })
  const denied = { error: 'secret_unresolved', about: 'DB: denied' }
  for (let each = 0; each < 20; each += 1) {
    expect(await world.broker.sealEnvironment({ ...ask, attempt: `a-${each}` })).toEqual(denied)
    now += 1_400
  }
  expect(proxy.count(path)).toBe(1)
  await real.writer.provisionTenant(tenant)
  expect(await world.broker.sealEnvironment({ ...ask, attempt: 'b' })).toEqual(denied)
  now += 2_001
  const healed = await world.broker.sealEnvironment({ ...ask, attempt: 'c' })
  expect(opened(node, healed).environment).toEqual({ DB_password: CANARY })
  expect(proxy.count(path)).toBe(2)
})

test('a credential that changed is read at once', async () => {
  const { tenant, node, ask, path } = await oneContainer()
  await real.store.seal()
  expect((await world.broker.sealEnvironment(ask)).about).toBe('DB: store_unavailable')
  await real.store.unseal()
  expect((await world.broker.sealEnvironment(ask)).about).toBe('DB: store_unavailable')
  await world.change(tenant, 'db', {
    consumers: ['another', 'web'].map((name) => consumerOf('deployment', name)),
  })
  expect(opened(node, await world.broker.sealEnvironment(ask)).environment).toEqual({ DB_password: CANARY })
  expect(proxy.count(path)).toBeLessThanOrEqual(2)
})

test('a sealed store is asked for every path once, by any number of requests, and all recover when it is back', async () => {
  const tenant = await world.tenant()
  const node = await aNodeOf(world, tenant)
  const labels = ['one', 'two', 'three']
  for (const label of labels) await world.put(tenant, label, { password: CANARY })
  const asks = await Promise.all(
    labels.flatMap((label) =>
      Array.from({ length: 5 }, () => world.place(node, { secrets: [secretEntry('DB', label)] })),
    ),
  )
  const askAll = (attempt: string) =>
    Promise.all(asks.map((ask) => world.broker.sealEnvironment({ ...ask, attempt })))
  await askAll('warm')
  const from = proxy.seen.length
  await real.store.seal()
  for (const attempt of ['a', 'b', 'c']) {
    for (const { about } of await askAll(attempt)) expect(about).toBe('DB: store_unavailable')
    now += 9_000
  }
  for (const label of labels) expect(proxy.count(`kv-${tenant}/data/deployments/${label}`, from)).toBe(1)
  await real.store.unseal()
  now += 3_001
  for (const answer of await askAll('d'))
    expect(opened(node, answer).environment).toEqual({ DB_password: CANARY })
})

test('one tenant whose reads all hang does not delay the others', { timeout: 120_000 }, async () => {
  world = await openDispatchWorld({ real, address: proxy.address, nowMs: () => now, deadlineMs: HUNG_MS })
  const { close } = world
  onTestFinished(() => close())
  const slow = await oneContainer()
  const quick = await oneContainer()
  proxy.delay(`kv-${slow.tenant}/`, 2 * HUNG_MS)
  const from = proxy.seen.length
  let ended = 0
  const held = Array.from({ length: 40 }, async (_, each) => {
    const answer = await world.broker.sealEnvironment({ ...slow.ask, attempt: `slow-${each}` })
    ended += 1
    return answer
  })
  await waitUntil(() => proxy.count(slow.path, from) === 1, { what: 'the read of the slow tenant hangs' })
  for (let each = 0; each < 50; each += 1) {
    const answer = await world.broker.sealEnvironment({ ...quick.ask, attempt: `quick-${each}` })
    expect(answer.sealed).toBeDefined()
  }
  // A request that had waited for the slow tenant would be answered after that tenant's requests have ended.
  expect(ended).toBe(0)
  // The requests end at their deadline, although the read from the secrets store hangs for longer.
  for (const answer of await Promise.all(held)) expect(answer.about).toBe('DB: store_unavailable')
  expect(proxy.count(slow.path, from)).toBe(1)
  proxy.calm()
  const healed = await waitUntil(
    async () => {
      now += 30_001
      const answer = await world.broker.sealEnvironment({ ...slow.ask, attempt: 'healed' })
      return answer.sealed === undefined ? undefined : answer
    },
    { what: 'the slow tenant is served again' },
  )
  expect(opened(slow.node, healed).environment).toEqual({ DB_password: CANARY })
})

test('ten thousand hostile paths in templates reach the store only within the grammar and the tenant', {
  timeout: 300_000,
}, async () => {
  const tenant = await world.tenant()
  const node = await aNodeOf(world, tenant)
  const hostile = hostilePaths()
  expect(hostile.length).toBeGreaterThan(10_000)
  const from = proxy.seen.length
  // Each template holds a hundred hostile paths, and the agent requests all of its secrets.
  for (let at = 0; at < hostile.length; at += 100) {
    const secrets = hostile
      .slice(at, at + 100)
      .map((path, index) => ({ name: `S${index}`, version: 1, ...path }))
    const answer = await world.broker.sealEnvironment(await world.place(node, { secrets }))
    expect(answer.error).toBe('secret_unresolved')
  }
  const grammar = new RegExp(
    `^GET /v1/kv-${tenant}/data/(?:deployments|resources)/[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\\?version=1$`,
  )
  const reached = new Set(proxy.seen.slice(from).filter((line) => !/^(?:POST|PUT) \/v1\/auth\//.test(line)))
  expect([...reached].filter((line) => !grammar.test(line))).toEqual([])
  expect(reached.size).toBeGreaterThan(0)
})
