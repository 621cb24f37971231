// Pages of operators in the built dashboard, by role and visible name only: secrets, and those of platform administrators.

import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { addressOf, examinedRoutes } from '@holdfast/dashboard/routes/examined-routes'
import { makeTempFolder } from '@holdfast/testkit'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { examinePages, PATIENCE } from './examine-pages.ts'
import { placesOf, readHar } from './har.ts'
import { type OperationsWorld, startOperationsWorld } from './operations-world.ts'
import { signInAt, watchedContext } from './watched-browser.ts'

const records = makeTempFolder('dashboard-records')
let world: OperationsWorld
let browser: Browser
let context: BrowserContext
/** Violations of the policy, and exceptions of the page, as texts. */
let faults: string[]

beforeAll(async () => {
  world = await startOperationsWorld(['acme-1', 'acme-2'])
  browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
})
afterAll(async () => {
  await browser?.close()
  await world?.stop()
  rmSync(records.path, { recursive: true, force: true })
})

beforeEach(async () => {
  faults = []
  const { baseUrl } = world.platform
  context = await browser.newContext({ baseURL: baseUrl, viewport: { width: 1280, height: 900 } })
  await context.exposeFunction('reportViolation', (text: string) => void faults.push(text))
  await context.addInitScript(
    `addEventListener('securitypolicyviolation', (event) => reportViolation(event.violatedDirective + ' ' + event.blockedURI))`,
  )
  context.on('page', (page) => page.on('pageerror', ({ message }) => void faults.push(message)))
})
afterEach(async () => {
  await context.close()
  expect(faults).toEqual([])
})

const acme = () => world.platform.api(world.platform.acme.token)

async function signIn(token = world.platform.acme.token): Promise<Page> {
  const page = await context.newPage()
  await page.goto('/ui/')
  await page.getByLabel('API token').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('Live', { exact: true }).waitFor()
  return page
}

async function deploy(name: string, more: object = {}): Promise<void> {
  const body = { kind: 'Deployment', name, image: world.platform.image, replicas: 1, ...more }
  const { status, text } = await acme().post('/api/v1/deployments', body)
  expect(status, text).toBe(201)
}

async function nodeId(name: string): Promise<string> {
  const { body } = await acme().get('/api/v1/nodes')
  const nodes: { id: string; name: string }[] = Object.values(Object(body['items']))
  return nodes.find((node) => node.name === name)?.id ?? ''
}

/** Types a value of a key instead of letting the server generate it. */
async function typeValue(page: Page, value: string): Promise<void> {
  await page.getByLabel('Value of password').selectOption({ label: 'Type it' })
  await page.getByLabel('Typed value').fill(value)
}

test('a record of the traffic has each secret only where it must be sent', { timeout: 120_000 }, async () => {
  const path = join(records.path, 'traffic.har')
  const { baseUrl, acme: tenant } = world.platform
  const recorded = await watchedContext(browser, baseUrl, { recordHar: { path, content: 'embed' } })
  await recorded.context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const [first, second, password] = ['first', 'second', 'registry'].map(
    (name) => `canary-${name}-${randomUUID()}`,
  )
  const page = await signInAt(recorded.context, '/ui/', tenant.token)
  const press = (name: string | RegExp) => page.getByRole('button', { name }).first().click()
  const open = (rest: string) => page.goto(`/ui/t/${tenant.id}/${rest}`)

  await open('secrets/new')
  await page.getByLabel('Namespace and name').fill('resources/orders-db')
  await typeValue(page, first ?? '')
  await press('Write 1 key as a new version')
  await page.getByText('resources/orders-db: version 1 is written.').waitFor()
  await deploy('orders', { replicas: 2, secrets: [{ name: 'DB', vault_path: 'resources/orders-db' }] })

  await open('deployments/orders/rotation')
  await page.getByText('v1 × 2').waitFor()
  await typeValue(page, second ?? '')
  await press(/^Stage a new version/)
  await press(/^Abort:/)
  await page.getByRole('button', { name: /^Stage a new version/ }).waitFor()

  await open('access')
  await press(/^Set credential of/)
  await page.getByLabel('User name').fill('ci')
  await page.getByLabel('Password or token').fill(password ?? '')
  await press('Store it')
  await page.getByText(/^The credential of .* is stored/).waitFor()
  await press('Create a token')
  await page.getByLabel('Name', { exact: true }).fill('har')
  await press('Create the token')
  await page.getByRole('dialog').getByRole('button', { name: 'Copy', exact: true }).click()
  await page.getByText('Copied', { exact: true }).waitFor()
  const issued = String(await page.evaluate('navigator.clipboard.readText()'))

  await open('nodes/join')
  await page.getByLabel('Name of the node').fill('acme-9')
  await press('Create the join command')
  const command = page.getByRole('region', { name: 'Run this on the machine, as root' }).last()
  await command.getByRole('button', { name: 'Show' }).click()
  const [join9 = 'none'] = /hfj_\S+/.exec((await command.textContent()) ?? '') ?? []
  const cookie =
    (await recorded.context.cookies()).find(({ name }) => name === '__Host-holdfast')?.value ?? ''
  for (const rest of ['', 'secrets', 'secrets/resources/orders-db', 'deployments/orders/history', 'events']) {
    await open(rest)
    await page.getByText('Live', { exact: true }).waitFor()
  }
  await recorded.context.close()
  expect(recorded.faults).toEqual([])

  const har = readHar(path)
  const tokens = `/api/v1/tenants/${tenant.id}/tokens`
  expect({
    first: placesOf(har, first ?? ''),
    second: placesOf(har, second ?? ''),
    password: placesOf(har, password ?? '').map((place) =>
      place.replace(/registries\/[^/]+/, 'registries/HOST'),
    ),
    signIn: placesOf(har, tenant.token),
    issued: placesOf(har, issued),
    join: placesOf(har, join9),
  }).toEqual({
    first: ['PUT /api/v1/secrets/resources/orders-db request body'],
    second: ['POST /api/v1/deployments/orders/secrets/rotate request body'],
    password: ['PUT /api/v1/registries/HOST/credential request body'],
    signIn: ['POST /api/v1/sign-in request body'],
    issued: [`POST ${tokens} response body`],
    join: ['POST /api/v1/nodes/join-tokens response body'],
  })
  expect(cookie).toMatch(/^[\w-]{43}$/)
  const notInHeaders = placesOf(har, cookie).filter(
    (place) => !/ (?:request cookie|response set-cookie) header$/.test(place),
  )
  expect(notInHeaders).toEqual([])
})

test('a typed secret value leaves the page with the request', async () => {
  const canary = 'c4n4ry-of-the-dashboard'
  const page = await signIn()
  await page.getByRole('link', { name: 'Secrets', exact: true }).click()
  await page.getByRole('link', { name: 'Write a secret' }).click()
  await page.getByLabel('Namespace and name').fill('resources/smtp')
  await page.getByLabel('Value of password').selectOption({ label: 'Type it' })
  await page.getByLabel('Typed value').fill(canary)
  await page.getByRole('button', { name: 'Write 1 key as a new version' }).click()
  await page.getByText('resources/smtp: version 1 is written.').waitFor()
  expect(await page.getByLabel('Typed value').inputValue()).toBe('')
  const reachable = `document.documentElement.outerHTML + JSON.stringify({ ...localStorage, ...sessionStorage }) + location.href`
  expect(await page.evaluate(reachable)).not.toContain(canary)
})

test('an administrator creates a tenant with its first token and raises a quota', async () => {
  const page = await signIn(world.platform.platformToken)
  await page.getByRole('heading', { name: 'Platform', level: 1 }).waitFor()
  await page.getByRole('link', { name: 'All tenants' }).click()
  await page.getByLabel('Name of the tenant').fill('initech')
  await page.getByRole('button', { name: 'Create the tenant' }).click()
  await page.getByRole('heading', { name: 'initech', level: 1 }).waitFor()
  await page.getByRole('button', { name: 'Create a tenant-admin token' }).click()
  const made = page.getByRole('region', { name: 'The token, shown once' })
  await made.getByRole('button', { name: 'Show' }).click()
  const token = (await made.textContent())?.match(/hf_[\w-]+/)?.[0]
  const { body } = await world.platform.api(token).get('/api/v1/me')
  expect(Object(body['tenant']).name).toBe('initech')
  await page.getByLabel('Limit of nodes').fill('7')
  await page.getByRole('button', { name: 'Set nodes 50 → 7' }).click()
  await page.getByText('0 of 7 used').waitFor()
  await page.getByRole('link', { name: 'Act in initech' }).click()
  await page.getByText('Acting in initech as platform-admin. Every change is audited.').waitFor()
})

test('pages of operators are accessible and no wider than the screen', PATIENCE, async () => {
  const page = await signIn(world.platform.platformToken)
  const { id } = world.platform.acme
  const secret = { namespace: 'resources', resource: 'orders-db' }
  const values = { tenant: id, id, name: 'orders', node: await nodeId('acme-1'), ...secret }
  await examinePages(
    page,
    examinedRoutes.operations.map((route) => addressOf(route, values)),
  )
})
