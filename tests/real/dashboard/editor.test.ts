// Two tasks of a newcomer in a browser, against a real server and agents in memory, by role and visible name only: deploy a
// manifest with three faults, and find what changed and roll it back. Also what a writer must never suffer: a change of
// another person that is overwritten, a write that happens twice, a value of a secret that leaves the text field.

import { rmSync } from 'node:fs'
import { AxeBuilder } from '@axe-core/playwright'
import { AGENT_CAPABILITIES } from '@holdfast/contract'
import { makeTempFolder, type SimulatedAgents, startSimulatedAgents } from '@holdfast/testkit'
import { type Platform, startPlatform } from '@holdfast/testkit/platform/start-platform'
import { enrollVolumeNode } from '@holdfast/testkit/session/volume-agent'
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { buildDashboard } from '../../../scripts/dashboard/build.ts'

const folder = makeTempFolder('dashboard-editor')
let platform: Platform
let browser: Browser
let context: BrowserContext
let page: Page
let agents: SimulatedAgents
/** Violations of the policy, and exceptions of the page, as texts. */
let faults: string[]

beforeAll(async () => {
  await buildDashboard(folder.path)
  platform = await startPlatform({
    settings: { roles: ['api', 'broker', 'gateway', 'controllers'], ui: { folder: folder.path } },
  })
  const admin = platform.api(platform.acme.token)
  const nodes = await Promise.all(
    ['n1', 'n2', 'n3'].map((name) => enrollVolumeNode(platform.baseUrl, admin, name)),
  )
  agents = await startSimulatedAgents({
    url: platform.baseUrl,
    nodes: nodes.map((node) => ({ ...node, generation: 1 })),
    capabilities: AGENT_CAPABILITIES,
    report: true,
  })
  browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
})
afterAll(async () => {
  await browser?.close()
  agents?.close()
  await platform.stop()
  rmSync(folder.path, { recursive: true, force: true })
})

beforeEach(async () => {
  faults = []
  context = await browser.newContext({ baseURL: platform.baseUrl, viewport: { width: 1280, height: 900 } })
  await context.exposeFunction('reportViolation', (text: string) => void faults.push(text))
  await context.addInitScript(
    `addEventListener('securitypolicyviolation', (event) => reportViolation(event.violatedDirective + ' ' + event.blockedURI))`,
  )
  page = await context.newPage()
  page.on('pageerror', ({ message }) => void faults.push(message))
  await page.goto('/ui/')
  await page.getByLabel('API token').fill(platform.acme.token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('Live', { exact: true }).waitFor()
})
afterEach(async () => {
  await context.close()
  expect(faults).toEqual([])
})

const api = () => platform.api(platform.acme.token)
const at = (path: string): string => `/ui/t/${platform.acme.id}${path}`
const button = (name: string | RegExp): Locator => page.getByRole('button', { name, exact: true })
const link = (name: string): Locator => page.getByRole('link', { name, exact: true })
const manifest = (): Locator => page.getByRole('textbox', { name: 'Manifest' })

const faulty = (name: string): string =>
  `kind: Deployment\nname: ${name}!\nimage: ${platform.image}\nreplicas: "3"\nreplcas: 1\n`
const sound = (name: string): string =>
  `kind: Deployment\nname: ${name}\nimage: ${platform.image}\nreplicas: 3\nenvironment:\n  GREETING: hello\n`

/** Stores a deployment of three replicas and waits until it runs. */
async function deploy(name: string): Promise<void> {
  const body = {
    kind: 'Deployment',
    name,
    image: platform.image,
    replicas: 3,
    environment: { GREETING: 'hello' },
  }
  expect((await api().post('/api/v1/deployments', body)).status).toBe(201)
  await expect.poll(() => read(name), { timeout: 20_000 }).toMatchObject({ status: { phase: 'Running' } })
}

const read = async (name: string) => Object((await api().get(`/api/v1/deployments/${name}`)).body)

test('a newcomer deploys a manifest with three faults, mends them, sees the plan, and sees 3 of 3', async () => {
  await link('Deployments').click()
  await link('New deployment').click()
  await manifest().fill(faulty('shop'))
  await page.getByRole('heading', { name: '3 faults to mend' }).waitFor()
  expect(await page.getByRole('button', { name: /^Line \d/ }).allTextContents()).toEqual([
    ...['Line 2', 'Line 4', 'Line 5'],
  ])
  await page.getByText('did you mean replicas?').waitFor()
  await manifest().fill(sound('shop'))
  await page.getByText('No fault found').waitFor()
  await button('Preview').click()
  expect((await api().get('/api/v1/deployments/shop')).status).toBe(404)
  await button('Apply: start 3 containers').click()
  await page.getByText('3 of 3 replicas are ready', { exact: true }).waitFor()
})

/** Presses Tab until the element has the focus. */
async function tabTo(target: Locator): Promise<void> {
  for (let presses = 0; presses < 60; presses += 1) {
    if ((await target.and(page.locator(':focus')).count()) > 0) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`the keyboard does not reach ${target}`)
}

test('the same with the keyboard alone', async () => {
  const go = async (target: Locator): Promise<void> => {
    await target.waitFor()
    await tabTo(target)
    await page.keyboard.press('Enter')
  }
  await go(link('Deployments'))
  await go(link('New deployment'))
  await manifest().waitFor()
  await tabTo(manifest())
  const type = async (text: string): Promise<void> => {
    await page.keyboard.press('Control+A')
    await page.keyboard.insertText(text)
  }
  await type(faulty('typed'))
  await page.getByRole('heading', { name: '3 faults to mend' }).waitFor()
  await go(button('Line 4'))
  await type(sound('typed'))
  await page.getByText('No fault found').waitFor()
  await go(button('Preview'))
  await go(button('Apply: start 3 containers'))
  await page.getByText('3 of 3 replicas are ready', { exact: true }).waitFor()
})

test('a newcomer finds what changed in the last minute, and rolls it back', async () => {
  await deploy('orders')
  const broken = { environment: { GREETING: 'broken' } }
  expect((await api().put('/api/v1/deployments/orders', broken)).status).toBe(200)
  await link('Deployments').click()
  await link('orders').click()
  await link('History').click()
  await page.getByText('hello → broken').first().waitFor()
  await link('Roll back to revision 1').click()
  await page.getByText('broken → hello').waitFor()
  await button('Roll back: recreate 3 containers').click()
  await page.getByRole('heading', { name: 'Rollout' }).waitFor()
  await page.getByText('Running', { exact: true }).first().waitFor()
  expect(await read('orders')).toMatchObject({ revision: 3, environment: { GREETING: 'hello' } })
})

test('a rejection of the server is shown at its line', async () => {
  await page.goto(at('/deployments/new'))
  await manifest().fill(sound('gallery').replace(platform.image, `${platform.registryHost}/none/nothing:1.0`))
  await page.getByText('No fault found').waitFor()
  await button('Preview').click()
  await page.getByText('The server found these faults').waitFor()
  await button('Line 3').waitFor()
})

test('an edit does not overwrite the change of another person, which is shown', async () => {
  await deploy('mailer')
  await page.goto(at('/deployments/mailer/settings'))
  await manifest().waitFor()
  expect((await api().put('/api/v1/deployments/mailer', { replicas: 2 })).status).toBe(200)
  await manifest().fill(sound('mailer').replace('GREETING: hello', 'GREETING: hallo'))
  await page.getByText('No fault found').waitFor()
  await button('Preview').click()
  await page.getByText('Someone else has changed mailer').waitFor()
  await page.getByText('3 → 2').waitFor()
  await button('Start again from the newest revision').click()
  await manifest().waitFor()
  expect(await manifest().textContent()).toContain('replicas: 2')
  expect(await read('mailer')).toMatchObject({ replicas: 2, environment: { GREETING: 'hello' } })
})

test('a write without an answer is reported as unknown, and happens once', async () => {
  await deploy('ledger')
  let cut = true
  await context.route('**/api/v1/deployments/ledger', async (route) => {
    if (route.request().method() !== 'PUT' || !cut) return route.continue()
    cut = false
    await route.fetch()
    await route.abort()
  })
  await page.goto(at('/deployments/ledger/change?act=scale&replicas=2'))
  await button('Scale: stop 1 container').click()
  await page.getByText('Not known whether it was done').waitFor()
  await button('Ask again').click()
  await page.getByRole('heading', { name: 'Rollout' }).waitFor()
  expect(await read('ledger')).toMatchObject({ revision: 2, replicas: 2 })
})

test('a deletion needs the name', async () => {
  await deploy('legacy')
  await page.goto(at('/deployments/legacy/settings'))
  await link('Delete legacy').click()
  const remove = button('Delete: stop 3 containers')
  await remove.click()
  await page.getByText('Type the name legacy exactly.').waitFor()
  expect(await read('legacy')).toMatchObject({ status: { phase: 'Running' } })
  await page.getByLabel('Type legacy to confirm').fill('legacy')
  await remove.click()
  await expect
    .poll(() => api().get('/api/v1/deployments/legacy'), { timeout: 20_000 })
    .toMatchObject({ status: 404 })
})

test('a value of a secret is marked, and leaves the text field neither by request nor by storage', async () => {
  const canary = 'canary-correct-horse-battery'
  const sent: string[] = []
  page.on('request', (request) => void sent.push(`${request.url()} ${request.postData() ?? ''}`))
  await page.goto(at('/deployments/new'))
  await manifest().fill(
    `${sound('vault')}secrets:\n  - name: DB\n    vault_path: deployments/vault\n    values:\n      password: ${canary}\n`,
  )
  await page.getByText('Values of secrets do not belong in a manifest').first().waitFor()
  const kept = await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage }) + location.href')
  expect(kept).not.toContain(canary)
  expect(sent.join('\n')).not.toContain(canary)
})

test.each([
  { width: 360, colorScheme: 'light' },
  { width: 1280, colorScheme: 'dark' },
] as const)('pages of changes are accessible and fit at $width px, $colorScheme', async (look) => {
  const name = `axe-${look.width}`
  await deploy(name)
  await page.emulateMedia({ colorScheme: look.colorScheme })
  await page.setViewportSize({ width: look.width, height: 800 })
  const parts = ['settings', 'scaling', 'history', 'change?act=delete', 'change?act=scale&replicas=5']
  for (const path of ['/deployments/new', ...parts.map((part) => `/deployments/${name}/${part}`)]) {
    await page.goto(at(path))
    await page.getByText('Live', { exact: true }).waitFor()
    const awaited = /new|settings/.test(path) ? manifest() : page.getByRole('heading', { level: 2 }).first()
    await awaited.waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), path).toBe(0)
    const { violations } = await new AxeBuilder({ page }).analyze()
    expect(violations.map(({ id, nodes }) => `${path} ${id} ${nodes[0]?.html}`)).toEqual([])
  }
})
