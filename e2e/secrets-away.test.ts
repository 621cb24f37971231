// The secrets store is sealed, killed, refuses one tenant and is slow for one tenant, on whole machines: containers
// that need a secret wait and are made by themselves when it is back, everything else goes on, what runs is not
// touched, and nobody floods the store. Every word with the store goes through a proxy that counts.

import { hash, randomBytes } from 'node:crypto'
import { type SecretsStore, startSecretsStore, waitUntil, watchMachineStalls } from '@holdfast/testkit'
import { LONG } from '@holdfast/testkit/long-run'
import {
  containersOn,
  eventsOf,
  placementsOf,
  startsOn,
  untilHealed,
  untilPhase,
} from '@holdfast/testkit/scenarios/lab-reads'
import { nodesOf } from '@holdfast/testkit/scenarios/routed-page'
import { type LabPlatform, startLabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { type StoreProxy, startStoreProxy } from '@holdfast/testkit/secrets/store-proxy'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'

type Tenant = 'acme' | 'globex'

/** Containers that are made at once to measure by: the slowest of up to a hundred is their 99th percentile. */
const AT_ONCE = LONG ? 100 : 12
const VALUE = `canary-${randomBytes(12).toString('hex')}`
/** Between two reads of one path that fails; a timer may come a little early. */
const REST_MS = 29_500
const SLOW = ['slow-1', 'slow-2', 'slow-3', 'slow-4']

interface Waiting {
  readonly tenant: Tenant
  readonly name: string
  readonly cause: string
}

let store: SecretsStore
let proxy: StoreProxy
let whole: LabPlatform
/** What ran before anything was taken away. */
let before: string[]
/** From request to creation, in milliseconds: before and after the faults, and while each of them lasted. */
const normal: number[] = []
const beside = new Map<string, { readonly times: number[]; readonly stalledMs: number }>()
const waiting: Waiting[] = []

beforeAll(async () => {
  store = await startSecretsStore()
  proxy = await startStoreProxy(store.address)
  whole = await startLabPlatform({
    nodesPerTenant: { acme: 2, globex: 1 },
    secretsStore: { ...store, address: proxy.address },
  })
  for (const tenant of ['acme', 'globex'] as const) {
    await write(tenant, 'steady')
    await create(tenant, 'steady')
  }
  for (const label of ['late', 'later', 'beside']) await write('acme', label)
  for (const label of ['refused', ...SLOW]) await write('globex', label)
  await untilPhase(whole.api('acme'), 'steady', 'Running')
  await untilPhase(whole.api('globex'), 'steady', 'Running')
  before = await everyStart()
  await dispatchTimes('warm', 2)
  normal.push(...(await dispatchTimes('before')))
})
afterAll(async () => {
  await whole?.stop()
  await proxy?.stop()
  await store?.stop()
})

async function write(tenant: Tenant, label: string): Promise<void> {
  const values = { password: VALUE }
  const { status, text } = await whole.api(tenant).put(`/api/v1/secrets/resources/${label}`, { values })
  expect(status, text).toBe(200)
}

/** With the secret of the same name, unless another one or none is given. */
async function create(tenant: Tenant, name: string, label = name, replicas = 1): Promise<void> {
  const secrets = label === '' ? [] : [{ name: 'DB', vault_path: `resources/${label}`, anchor: 'external' }]
  const body = { kind: 'Deployment', name, image: whole.image, replicas, secrets, stopGracePeriod: '1s' }
  const { status, text } = await whole.api(tenant).post('/api/v1/deployments', body)
  expect(status, text).toBe(201)
}

const everyStart = async (): Promise<string[]> =>
  (await Promise.all(whole.lab.nodes.map(({ name }) => startsOn(whole, name)))).flat()

/** From the request to each container's creation, in milliseconds, of a deployment of the first tenant. */
async function dispatchTimes(name: string, count = AT_ONCE): Promise<number[]> {
  const asked = Date.now()
  await create('acme', name, 'beside', count)
  await untilPhase(whole.api('acme'), name, 'Running')
  const created = await Promise.all(nodesOf(whole, 'acme').map((node) => createdOn(node, name)))
  await whole.api('acme').delete(`/api/v1/deployments/${name}`)
  await waitUntil(async () => (await whole.api('acme').get(`/api/v1/deployments/${name}`)).status === 404, {
    what: `${name} is gone`,
  })
  expect(created.flat()).toHaveLength(count)
  return created.flat().map((at) => at - asked)
}

async function createdOn(node: string, name: string): Promise<number[]> {
  const filter = `label=holdfast.io/deployment-name=${name}`
  const ids = (await whole.node(node).exec(['docker', 'ps', '--quiet', '--filter', filter]))
    .split('\n')
    .filter(Boolean)
  if (ids.length === 0) return []
  const told = await whole.node(node).exec(['docker', 'inspect', '--format', '{{.Created}}', ...ids])
  return told.trim().split('\n').map(Date.parse)
}

/** It is said so, and there is no container of it, not even one that was made and not started. */
async function waits({ tenant, name, cause }: Waiting, message: string): Promise<void> {
  const api = whole.api(tenant)
  await untilPhase(api, name, 'Degraded')
  const { body } = await api.get(`/api/v1/deployments/${name}`)
  const said = { reason: 'secret_unresolved', message: expect.stringContaining(message) }
  expect(body['status']).toMatchObject(said)
  const held = (await Promise.all(nodesOf(whole, tenant).map((node) => containersOn(whole, node)))).flat()
  expect(held.filter((line) => line.startsWith(`${name} `))).toEqual([])
  waiting.push({ tenant, name, cause })
}

const AWAY = 'cannot be read: the secrets store does not answer'

/** The other tenant, meanwhile. */
async function othersGoOn(what: string): Promise<void> {
  const stalls = await watchMachineStalls()
  const times = await dispatchTimes(what)
  beside.set(what, { times, stalledMs: await stalls() })
  expect(await everyStart()).toEqual(expect.arrayContaining(before))
}

test('refused for one tenant: it waits, the other goes on', async () => {
  onTestFinished(() => proxy.calm())
  proxy.forbid(`kv-${whole.platform.globex.id}/`)
  await create('globex', 'refused')
  await waits({ tenant: 'globex', name: 'refused', cause: 'denied' }, 'cannot be read')
  await create('globex', 'plain', '')
  await untilPhase(whole.api('globex'), 'plain', 'Running')
  await othersGoOn('refused')
})

test('30 s late for one tenant: it waits, the other goes on', async () => {
  onTestFinished(() => proxy.calm())
  proxy.delay(`kv-${whole.platform.globex.id}/`, 30_000)
  for (const name of SLOW) await create('globex', name)
  await othersGoOn('slow')
  for (const name of SLOW) await waits({ tenant: 'globex', name, cause: 'store_unavailable' }, AWAY)
})

test('sealed: what needs it waits, what does not is made', async () => {
  await store.seal()
  await create('acme', 'late')
  await create('acme', 'plain', '')
  await waits({ tenant: 'acme', name: 'late', cause: 'store_unavailable' }, AWAY)
  await untilPhase(whole.api('acme'), 'plain', 'Running')
  expect(await everyStart()).toEqual(expect.arrayContaining(before))
  await store.unseal()
})

test('killed: the same', async () => {
  await store.kill()
  await create('acme', 'later')
  await waits({ tenant: 'acme', name: 'later', cause: 'store_unavailable' }, AWAY)
  await untilPhase(whole.api('acme'), 'steady', 'Running')
  expect(await everyStart()).toEqual(expect.arrayContaining(before))
  await store.restart()
})

test('when it is back all heal by themselves, and no path was asked for more than once in half a minute', async () => {
  const healing = Promise.all(waiting.map(({ tenant, name }) => untilHealed(whole.api(tenant), name)))
  for (const name of ['after-1', 'after-2']) normal.push(...(await dispatchTimes(name)))
  const healed = await healing
  const seconds = waiting.map(({ name }, at) => `${name} ${Math.round((healed[at] ?? 0) / 1000)} s`)
  console.log(`healed after the store was back for all: ${seconds.join(', ')}`)
  for (const { tenant, name } of waiting)
    expect(await hashIn(tenant, name)).toBe(hash('sha256', VALUE, 'hex'))
  const reads = waiting.map(readsOf)
  console.log(`reads of each path, one of them good: ${reads.map(({ length }) => length).join(', ')}`)
  for (const times of reads) {
    expect(times.length).toBeGreaterThan(0)
    expect(times.filter((time, at) => at > 0 && time - (times[at - 1] ?? 0) < REST_MS)).toEqual([])
  }
  expect(await everyStart()).toEqual(expect.arrayContaining(before))
})

test('the other tenant was as quick as it is without a fault', () => {
  // On a busy machine the slowest of a dozen scatters as much as twofold by itself: so it is measured before and after, and
  // what the machine itself stood still meanwhile is nobody's delay: accepted, placed and made are each written first.
  const normalMs = Math.max(...normal)
  for (const [what, { times, stalledMs }] of beside) {
    const besideMs = Math.max(...times)
    console.log(
      `request to creation of the other tenant, p99: ${besideMs} ms of ${times.length} while ${what}, normally ${normalMs} ms of ${normal.length}, of those before it ${Math.max(...normal.slice(0, AT_ONCE))} ms; the machine stood still for up to ${stalledMs} ms`,
    )
    expect(besideMs - 3 * stalledMs).toBeLessThan(2 * normalMs)
  }
  expect(beside.size).toBe(2)
})

test('each is told with its cause, and none twice', async () => {
  for (const tenant of ['acme', 'globex'] as const) {
    const told = await eventsOf(whole.api(tenant), 'secret.unresolved')
    const causes = told.map(({ subject, data }) => `${subject.name} ${Object(data).cause}`)
    const due = waiting.filter((each) => each.tenant === tenant).map(({ name, cause }) => `${name} ${cause}`)
    // One that is asked for again during the next fault has two causes.
    expect(causes).toEqual(expect.arrayContaining(due))
    expect(new Set(causes).size).toBe(causes.length)
  }
})

async function hashIn(tenant: Tenant, name: string): Promise<string> {
  const [placed] = await placementsOf(whole.api(tenant), name)
  const script = 'printf %s "$DB_password" | sha256sum'
  const node = whole.node(placed?.nodeName ?? '')
  return (await node.exec(['docker', 'exec', name, '/bin/sh', '-c', script])).slice(0, 64)
}

/** When the path of this deployment was asked for, at the proxy. */
function readsOf({ tenant, name }: Waiting): number[] {
  const path = `GET /v1/kv-${whole.platform[tenant].id}/data/resources/${name}?`
  return proxy.seen.flatMap((line, at) => (line.startsWith(path) ? [proxy.seenAtMs[at] ?? 0] : []))
}
