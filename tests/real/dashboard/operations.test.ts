// Tasks of operators in the built dashboard, by role and visible name only: mend a deployment by its cheapest remedy, join a
// machine, rotate a password while every container logs in with it, and the pages of platform administrators.

import { AxeBuilder } from '@axe-core/playwright'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type OperationsWorld, startOperationsWorld } from './operations-world.ts'

const GIB = 2 ** 30
/** Eleven pages are examined one after another. */
const PATIENCE = { timeout: 180_000 }
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

test('report runs after its cheapest remedy is pressed', async () => {
  expect((await acme().post(`/api/v1/nodes/${await nodeId('acme-1')}/cordon`, undefined)).status).toBe(200)
  await deploy('ballast', { resources: { memoryBytes: 3 * GIB } })
  await deploy('report', { resources: { memoryBytes: 2 * GIB } })
  const page = await signIn()
  await page.getByRole('link', { name: 'Review report' }).click()
  await page.getByRole('button', { name: 'Uncordon acme-1' }).first().click()
  await page.getByText('Running', { exact: true }).first().waitFor()
  await page.getByText('1 of 1 ready').first().waitFor()
})

test('a machine that runs the join command becomes ready on the page', async () => {
  const page = await signIn()
  await page.getByRole('link', { name: 'Nodes', exact: true }).click()
  await page.getByRole('link', { name: 'Join a machine' }).click()
  await page.getByLabel('Name of the node').fill('acme-3')
  await page.getByRole('button', { name: 'Create the join command' }).click()
  await page.getByText('Waiting until acme-3 enrolls.').waitFor()
  const command = page.getByRole('region', { name: 'Run this on the machine, as root' }).last()
  expect(await command.textContent()).not.toContain('--token')
  await command.getByRole('button', { name: 'Show' }).click()
  const [, token = ''] = /--token (\S+)/.exec((await command.textContent()) ?? '') ?? []
  await world.join('acme-3', token)
  await page.getByText('acme-3 is ready.').waitFor()
  await page.getByRole('link', { name: 'Open acme-3' }).click()
  await page.getByRole('heading', { name: 'acme-3', level: 1 }).waitFor()
})

test('a password is rotated phase by phase, and no login fails', { timeout: 120_000 }, async () => {
  const { accepted, logins } = world.target
  const written = await acme().put('/api/v1/secrets/resources/orders-db', {
    generate: { keys: ['password'] },
  })
  expect(written.status, written.text).toBe(200)
  const secrets = [{ name: 'DB', vault_path: 'resources/orders-db' }]
  await deploy('orders', { replicas: 2, secrets })
  const page = await signIn()
  await page.getByRole('link', { name: 'Deployments', exact: true }).click()
  await page.getByRole('link', { name: 'orders', exact: true }).click()
  await page.getByRole('link', { name: 'Rotation' }).click()
  await page.getByText('v1 × 2').waitFor()
  await page.getByRole('button', { name: /^Stage a new version/ }).click()
  await page.getByText('accept v2 in addition to v1').waitFor()
  accepted.add(2)
  await page.getByRole('button', { name: /^Overlap:/ }).click()
  await page.getByRole('button', { name: 'Cut over: recreate orders 2' }).click()
  // The button stays closed, with the reason, until every container has proved the new version.
  const retire = page.getByRole('button', { name: 'Retire: destroy v1', disabled: false })
  await page.getByText('v2 × 2').waitFor()
  await retire.and(page.locator(':not([aria-disabled])')).click({ timeout: 90_000 })
  await page.getByRole('button', { name: /^Stage a new version/ }).waitFor()
  accepted.delete(1)
  const before = logins.done
  await expect.poll(() => logins.done).toBeGreaterThan(before)
  expect(logins.refused).toBe(0)
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

test.each([
  { width: 360, colorScheme: 'light' },
  { width: 360, colorScheme: 'dark' },
  { width: 1280, colorScheme: 'light' },
  { width: 1280, colorScheme: 'dark' },
] as const)('pages of operators are accessible and fit $width px, $colorScheme', PATIENCE, async (look) => {
  const page = await signIn(world.platform.platformToken)
  await page.emulateMedia({ colorScheme: look.colorScheme })
  await page.setViewportSize({ width: look.width, height: 800 })
  const ofTenant = [
    'secrets',
    'secrets/new',
    'secrets/resources/orders-db',
    'deployments/orders/rotation',
    'deployments/orders/replicas',
    'nodes/join',
    `nodes/${await nodeId('acme-1')}`,
  ].map((path) => `t/${world.platform.acme.id}/${path}`)
  const ofPlatform = ['platform', 'platform/tenants', 'platform/servers']
  for (const path of [...ofPlatform, `platform/tenants/${world.platform.acme.id}`, ...ofTenant]) {
    await page.goto(`/ui/${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.getByText('Live', { exact: true }).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), path).toBe(0)
    const { violations } = await new AxeBuilder({ page }).analyze()
    expect(violations.map(({ id, nodes }) => `${path} ${id} ${nodes[0]?.html}`)).toEqual([])
  }
})
