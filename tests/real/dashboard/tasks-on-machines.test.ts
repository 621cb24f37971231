// The five tasks of a newcomer in the dashboard, by role and visible name only, on real machines: run a deployment by its
// cheapest remedy, deploy a manifest with three faults, find a change and roll it back, let a machine join, and rotate a
// password while every container logs in to a real Redis. Then a machine loses its power, and the pages show it. No page may
// violate the content security policy.

import { env } from 'node:process'
import { waitUntil } from '@holdfast/testkit'
import { untilPhase } from '@holdfast/testkit/scenarios/lab-reads'
import { startRedisWorld } from '@holdfast/testkit/scenarios/redis-world'
import { type LabPlatform, startLabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { pointer } from './hands.ts'
import {
  applyCheapestRemedy,
  deployFaultyManifest,
  joinMachine,
  type Newcomer,
  rollBackChange,
  rotatePassword,
} from './newcomer-tasks.ts'
import { picturesIn } from './pictures.ts'
import {
  type BuiltDashboard,
  builtDashboard,
  isLive,
  launchChromium,
  signInAt,
  type Watched,
  watchedContext,
} from './watched-browser.ts'

const GIB = 2 ** 30
/** Short limits for silent nodes, so that a node is declared failed while the test waits. */
const LIVENESS = { heartbeatSeconds: 2, unreachableSeconds: 8, failedSeconds: 24 }
/** How long the test waits for a page to show a change of a node. */
const PATIENCE_MS = 120_000
/** Folder for pictures of the pages; `scripts/screens.ts` sets it. */
const PICTURES = env.HOLDFAST_PICTURES
let built: BuiltDashboard
let cluster: LabPlatform
let browser: Browser
let watched: Watched
let newcomer: Newcomer

beforeAll(async () => {
  built = await builtDashboard()
  cluster = await startLabPlatform({
    nodesPerTenant: { acme: 2, globex: 0 },
    strangers: ['acme-2'],
    settings: { ui: { folder: built.folder }, liveness: LIVENESS },
    // A browser accepts the sign-in cookie over plain HTTP from loopback only.
    serversOnMachines: false,
  })
  browser = await launchChromium()
})
afterAll(async () => {
  await browser?.close()
  await cluster?.stop()
  built?.remove()
})

beforeEach(async () => {
  // Machines reach this server too, so the join command that it returns works on them.
  watched = await watchedContext(browser, cluster.gateway.baseUrl, { ignoreHTTPSErrors: true })
  const page = await signInAt(watched.context, '/ui/', cluster.platform.acme.token)
  newcomer = { page, hand: pointer, ...(PICTURES === undefined ? {} : { look: picturesIn(PICTURES, page) }) }
})
afterEach(async () => {
  await watched.context.close()
  expect(watched.faults).toEqual([])
})

const acme = () => cluster.api('acme')

async function deploy(name: string, more: object): Promise<void> {
  const body = { kind: 'Deployment', name, image: cluster.image, replicas: 1, ...more }
  const { status, text } = await acme().post('/api/v1/deployments', body)
  expect(status, text).toBe(201)
}

const read = async (name: string) => Object((await acme().get(`/api/v1/deployments/${name}`)).body)

test('a machine joins by the command of the page and is ready', async () => {
  await joinMachine(newcomer, 'acme-2', (command) => cluster.join(cluster.node('acme-2'), command))
})

test('report runs after its cheapest remedy is pressed', async () => {
  const { body } = await acme().get('/api/v1/nodes')
  const nodes: { id: string; name: string }[] = Object.values(Object(body['items']))
  const first = nodes.find(({ name }) => name === 'acme-1')?.id
  expect((await acme().post(`/api/v1/nodes/${first}/cordon`, undefined)).status).toBe(200)
  await deploy('ballast', { resources: { memoryBytes: 5 * GIB } })
  await deploy('report', { resources: { memoryBytes: 4 * GIB } })
  await applyCheapestRemedy(newcomer, 'Uncordon acme-1')
})

test('a manifest with three faults is mended, previewed and deployed', async () => {
  const sound = `kind: Deployment\nname: shop\nimage: ${cluster.image}\nreplicas: 3\nresources:\n  memory: 64Mi\n`
  await deployFaultyManifest(newcomer, {
    sound,
    faulty: sound.replace('shop', 'Shop').replace('replicas', 'replcas').replace('64Mi', 'lots'),
    lines: ['Line 2', 'Line 4', 'Line 6'],
    hint: 'did you mean replicas?',
  })
})

const CHECKOUT = `[ "$CURRENCY" = EUR ] || { echo "no prices in $CURRENCY" >&2; exit 1; }
  trap 'exit 0' TERM; sleep 100000 & wait`

test('the change that broke a deployment is found and rolled back', async () => {
  await deploy('checkout', {
    command: ['/bin/sh', '-c', CHECKOUT],
    environment: { CURRENCY: 'EUR' },
    update: { order: 'stop-first', failureAction: 'pause' },
  })
  await untilPhase(acme(), 'checkout', 'Running')
  const broken = { environment: { CURRENCY: 'USD' } }
  expect((await acme().put('/api/v1/deployments/checkout', broken)).status).toBe(200)
  await untilPhase(acme(), 'checkout', 'Degraded')
  await rollBackChange(newcomer, {
    deployment: 'checkout',
    change: 'EUR → USD',
    undone: 'USD → EUR',
    revision: 1,
    rollBack: 'Roll back: recreate 1 container',
  })
  expect(await read('checkout')).toMatchObject({ revision: 3, environment: { CURRENCY: 'EUR' } })
})

test('a password is rotated while every container logs in with it, and no login fails', async () => {
  const world = await startRedisWorld(cluster, { clients: ['orders'], path: 'resources/orders-db' })
  await rotatePassword(newcomer, {
    deployment: 'orders',
    cutOver: 'Cut over: recreate orders 2, then redis-users 2',
    updateTarget: () => world.applyPasswords(),
  }).catch(async (error: unknown) => {
    const shown = ['secrets/resources/orders-db', 'deployments/orders', 'deployments/orders/placements']
    const answers = await Promise.all(shown.map((path) => acme().get(`/api/v1/${path}`)))
    throw new Error(answers.map(({ text }) => text).join('\n'), { cause: error })
  })
  const before = (await world.tally()).logins
  const after = await waitUntil(
    async () => {
      const tally = await world.tally()
      return tally.logins > before + 20 && tally
    },
    { what: 'the containers log in with the new password' },
  )
  console.log(
    `${after.logins} logins of ${after.containers} containers, ${after.missed} missed, ${after.refused} refused`,
  )
  expect(after).toMatchObject({ missed: 0, refused: 0, passwords: [1, 1] })
}, 300_000)

/** The word of state beside the title of a page. */
const statusOf = (page: Page, word: string) =>
  page.getByRole('heading', { level: 1 }).locator('..').getByText(word, { exact: true })
const countLive = (page: Page): Promise<number> => page.getByText('Live', { exact: true }).count()

/** Opens a page in a tab of its own, and fails the test if the tab is ever loaded again. */
async function openTab(address: string): Promise<{ page: Page; loads(): number }> {
  const page = await watched.context.newPage()
  await page.goto(address)
  await isLive(page)
  let loads = 0
  page.on('load', () => {
    loads += 1
  })
  return { page, loads: () => loads }
}

test('a node without power is shown as unreachable and failed, and as ready again without a reload', async () => {
  const { body } = await acme().get('/api/v1/nodes')
  const nodes: { id: string; name: string }[] = Object.values(Object(body['items']))
  const id = nodes.find(({ name }) => name === 'acme-1')?.id ?? ''
  await deploy('lamp', { nodeId: id, resources: { memoryBytes: GIB / 16 } })
  await untilPhase(acme(), 'lamp', 'Running')
  const home = `/ui/t/${cluster.platform.acme.id}`
  const [node, overview] = [await openTab(`${home}/nodes/${id}`), await openTab(home)]
  await statusOf(node.page, 'ready').waitFor()
  const needs = (name: string) => {
    const review = overview.page.getByRole('link', { name: `Review ${name}`, exact: true })
    return overview.page.getByRole('listitem').filter({ has: review })
  }
  expect(await needs('acme-1').count()).toBe(0)

  await cluster.lab.powerOff(cluster.node('acme-1'))
  for (const word of ['unreachable', 'failed']) {
    const shown = [
      statusOf(node.page, word),
      needs('acme-1').getByText(word, { exact: true }),
      overview.page.getByText(`1 ${word}`, { exact: true }),
    ]
    await Promise.all(shown.map((each) => each.waitFor({ timeout: PATIENCE_MS })))
    expect([await countLive(node.page), await countLive(overview.page)]).toEqual([1, 1])
  }

  await cluster.lab.powerOn(cluster.node('acme-1'))
  await statusOf(node.page, 'ready').waitFor({ timeout: PATIENCE_MS })
  const lamp = node.page.getByRole('listitem').filter({ hasText: 'lamp/' })
  await lamp.getByText('ready', { exact: true }).waitFor()
  for (const name of ['acme-1', 'lamp']) await needs(name).waitFor({ state: 'detached' })
  expect([await countLive(node.page), await countLive(overview.page)]).toEqual([1, 1])
  expect([node.loads(), overview.loads()]).toEqual([0, 0])
}, 300_000)
