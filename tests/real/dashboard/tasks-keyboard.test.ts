// The five tasks of a newcomer with the keyboard alone, on a real server with agents in memory. The same walks run with a
// pointer on real machines in tests/real/dashboard/tasks-on-machines.test.ts.

import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { keyboardOf } from './hands.ts'
import {
  applyCheapestRemedy,
  deployFaultyManifest,
  joinMachine,
  type Newcomer,
  rollBackChange,
  rotatePassword,
} from './newcomer-tasks.ts'
import { type OperationsWorld, startOperationsWorld } from './operations-world.ts'
import { launchChromium, signInAt, type Watched, watchedContext } from './watched-browser.ts'

const GIB = 2 ** 30
let world: OperationsWorld
let browser: Browser
let watched: Watched
let newcomer: Newcomer

beforeAll(async () => {
  world = await startOperationsWorld(['acme-1', 'acme-2'])
  browser = await launchChromium()
})
afterAll(async () => {
  await browser?.close()
  await world?.stop()
})

beforeEach(async () => {
  watched = await watchedContext(browser, world.platform.baseUrl)
  const page = await signInAt(watched.context, '/ui/', world.platform.acme.token)
  newcomer = { page, hand: keyboardOf(page) }
})
afterEach(async () => {
  await watched.context.close()
  expect(watched.faults).toEqual([])
})

const acme = () => world.platform.api(world.platform.acme.token)

async function deploy(name: string, more: object = {}): Promise<void> {
  const body = { kind: 'Deployment', name, image: world.platform.image, replicas: 1, ...more }
  const { status, text } = await acme().post('/api/v1/deployments', body)
  expect(status, text).toBe(201)
}

const read = async (name: string) => Object((await acme().get(`/api/v1/deployments/${name}`)).body)

test('the keyboard runs report by its cheapest remedy', async () => {
  const { body } = await acme().get('/api/v1/nodes')
  const nodes: { id: string; name: string }[] = Object.values(Object(body['items']))
  const first = nodes.find(({ name }) => name === 'acme-1')?.id
  expect((await acme().post(`/api/v1/nodes/${first}/cordon`, undefined)).status).toBe(200)
  await deploy('ballast', { resources: { memoryBytes: 3 * GIB } })
  await deploy('report', { resources: { memoryBytes: 2 * GIB } })
  await applyCheapestRemedy(newcomer, 'Uncordon acme-1')
})

test('the keyboard deploys a manifest with three faults', async () => {
  const sound = `kind: Deployment\nname: shop\nimage: ${world.platform.image}\nreplicas: 3\nresources:\n  memory: 64Mi\n`
  await deployFaultyManifest(newcomer, {
    sound,
    faulty: sound.replace('shop', 'Shop').replace('replicas', 'replcas').replace('64Mi', 'lots'),
    lines: ['Line 2', 'Line 4', 'Line 6'],
    hint: 'did you mean replicas?',
  })
})

test('the keyboard finds a change and rolls it back', async () => {
  await deploy('checkout', { environment: { CURRENCY: 'EUR' } })
  await expect
    .poll(() => read('checkout'), { timeout: 20_000 })
    .toMatchObject({ status: { phase: 'Running' } })
  const changed = { environment: { CURRENCY: 'USD' } }
  expect((await acme().put('/api/v1/deployments/checkout', changed)).status).toBe(200)
  await rollBackChange(newcomer, {
    deployment: 'checkout',
    change: 'EUR → USD',
    undone: 'USD → EUR',
    revision: 1,
    rollBack: 'Roll back: recreate 1 container',
  })
  expect(await read('checkout')).toMatchObject({ revision: 3, environment: { CURRENCY: 'EUR' } })
})

test('the keyboard lets a machine join', async () => {
  await joinMachine(newcomer, 'acme-3', async (command) => {
    const [, token = ''] = /--token (\S+)/.exec(command) ?? []
    await world.join('acme-3', token)
  })
})

test('the keyboard rotates a password, and no login fails', { timeout: 240_000 }, async () => {
  const { accepted, logins } = world.target
  const generate = { keys: ['password'] }
  expect((await acme().put('/api/v1/secrets/resources/orders-db', { generate })).status).toBe(200)
  await deploy('orders', { replicas: 2, secrets: [{ name: 'DB', vault_path: 'resources/orders-db' }] })
  await expect.poll(() => read('orders'), { timeout: 20_000 }).toMatchObject({ status: { phase: 'Running' } })
  await rotatePassword(newcomer, {
    deployment: 'orders',
    cutOver: 'Cut over: recreate orders 2',
    async updateTarget() {
      if (accepted.has(2)) accepted.delete(1)
      else accepted.add(2)
    },
  })
  const before = logins.done
  await expect.poll(() => logins.done).toBeGreaterThan(before)
  expect(logins.refused).toBe(0)
})
