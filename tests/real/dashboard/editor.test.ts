// Changes of deployments in a browser, against a real server and agents in memory: no change of another person is overwritten,
// no write happens twice, no value of a secret leaves the text field. Also canaries and scaling policies.

import { rmSync } from 'node:fs'
import { AGENT_CAPABILITIES } from '@holdfast/contract'
import { addressOf, examinedRoutes } from '@holdfast/dashboard/routes/examined-routes'
import { makeTempFolder, type SimulatedAgents, startSimulatedAgents } from '@holdfast/testkit'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import { enrollVolumeNode } from '@holdfast/testkit/session/volume-agent'
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { buildDashboard } from '../../../scripts/dashboard/build.ts'
import { examinePages, PATIENCE } from './examine-pages.ts'

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
  platform = await ownPlatform({
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

const sound = (name: string): string =>
  `kind: Deployment\nname: ${name}\nimage: ${platform.image}\nreplicas: 3\nenvironment:\n  GREETING: hello\n`

/** Stores a deployment of three replicas and waits until it runs. */
async function deploy(name: string, more: object = {}): Promise<void> {
  const body = {
    kind: 'Deployment',
    name,
    image: platform.image,
    replicas: 3,
    environment: { GREETING: 'hello' },
    ...more,
  }
  expect((await api().post('/api/v1/deployments', body)).status).toBe(201)
  await expect.poll(() => read(name), { timeout: 20_000 }).toMatchObject({ status: { phase: 'Running' } })
}

const read = async (name: string) => Object((await api().get(`/api/v1/deployments/${name}`)).body)

test('a rejection of the server is shown at its line', async () => {
  await page.goto(at('/deployments/new'))
  await manifest().fill(sound('absent').replace(platform.image, `${platform.registryHost}/none/nothing:1.0`))
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

/** Waits until a canary may start: not before the rollout has passed its watch window. */
async function untilGood(name: string): Promise<void> {
  const body = { change: { environment: { GREETING: 'hi' } }, replicas: 1, weight: 10 }
  const path = `/api/v1/deployments/${name}/canary?dryRun=true`
  await expect.poll(async () => (await api().post(path, body)).status, { timeout: 60_000 }).toBeLessThan(300)
}

async function startCanary(name: string, greeting: string): Promise<void> {
  await page.goto(at(`/deployments/${name}/settings`))
  await manifest().waitFor()
  await manifest().fill(sound(name).replace('GREETING: hello', `GREETING: ${greeting}`))
  await page.getByText('No fault found').waitFor()
  await button('Preview the canary').click()
  await button(/^Start the canary/).click()
  await expect.poll(async () => (await read(name)).canary).toBeDefined()
  await page.goto(at(`/deployments/${name}/why`))
  await page.getByText('1 replica with 10 % of the requests').waitFor()
}

test('a canary is started, aborted, started again and promoted', { timeout: 120_000 }, async () => {
  await deploy('gallery')
  await untilGood('gallery')
  await startCanary('gallery', 'first')
  await link('Abort the canary').click()
  await button(/^Abort/).click()
  await expect.poll(async () => (await read('gallery')).canary?.phase ?? 'aborted').toBe('aborted')
  expect(await read('gallery')).toMatchObject({ environment: { GREETING: 'hello' } })
  await startCanary('gallery', 'second')
  await link('Promote the canary').click()
  await page.getByLabel('Do not wait for the end of the observation').check()
  await button(/^Promote/).click()
  await expect
    .poll(() => read('gallery'), { timeout: 20_000 })
    .toMatchObject({ environment: { GREETING: 'second' }, status: { phase: 'Running' } })
})

test('a scaling policy is set and deleted, each after its plan', async () => {
  await deploy('market', { resources: { cpuMillis: 100 } })
  await page.goto(at('/deployments/market/scaling'))
  await page.getByText('No scaling policy').waitFor()
  await page.getByLabel('Least replicas').fill('2')
  await page.getByLabel('Most replicas').fill('4')
  await button('Preview').click()
  await button(/^Apply/).click()
  await page.getByText('The policy is stored.').waitFor()
  await page.getByText('2 to 4 replicas').waitFor()
  await button('Change the policy').click()
  await button('Delete the policy').click()
  await button(/^Apply/).click()
  await page.getByText('No scaling policy').waitFor()
  expect((await api().get('/api/v1/deployments/market/scaling')).status).toBe(404)
})

/** Opens or closes every node for new replicas. */
async function setNodes(act: 'cordon' | 'uncordon'): Promise<void> {
  const { body } = await api().get('/api/v1/nodes')
  for (const node of Object.values<{ id: string }>(Object(body['items'])))
    expect((await api().post(`/api/v1/nodes/${node.id}/${act}`, undefined)).status).toBe(200)
}

test('a plan that differs when it is applied is shown, and nothing is applied', async () => {
  await deploy('depot')
  await page.goto(at('/deployments/depot/change?act=scale&replicas=4'))
  const apply = button('Scale: start 1 container')
  await apply.waitFor()
  // The nodes are closed while the page computes the plan once more, after the person has pressed the button.
  let closed = false
  await context.route('**/api/v1/deployments/depot?dryRun=*', async (route) => {
    if (!closed) {
      closed = true
      await setNodes('cordon')
    }
    await route.continue()
  })
  await apply.click()
  await page.getByText('The plan has changed while you read it. Nothing was applied.').waitFor()
  await page.getByText('1 replica would have no node').first().waitFor()
  expect(await read('depot')).toMatchObject({ revision: 1, replicas: 3 })
  await setNodes('uncordon')
})

test('the slider and the field show a deployment as it was, and nothing can be changed there', async () => {
  await deploy('archive')
  expect((await api().put('/api/v1/deployments/archive', { replicas: 2 })).status).toBe(200)
  await page.goto(at('/deployments/archive/why'))
  await page.getByText('revision 2', { exact: true }).first().waitFor()
  const slider = page.getByRole('slider', { name: /^Decisions about this deployment/ })
  await slider.focus()
  await page.keyboard.press('Home')
  await page.getByText('Nothing can be changed here.').waitFor()
  await page.getByText('revision 1', { exact: true }).first().waitFor()
  expect(new URL(page.url()).searchParams.get('at')).toMatch(/^\d{4}-/)
  expect(await link('Scale').count()).toBe(0)
  await link('History').click()
  await page.getByText('Nothing can be changed here.').waitFor()
  await page.getByLabel('Show the past: at').fill('2h')
  await button('Show').click()
  await page.getByText('No decision of this time is kept.').waitFor()
  await button('Back to now').click()
  await link('Scale').waitFor()
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

test('a text that is not stored is left only after a question', async () => {
  await page.goto(at('/deployments/new'))
  await manifest().fill(sound('draft'))
  await link('Deployments').click()
  await page.getByRole('dialog', { name: 'Leave without storing the manifest?' }).waitFor()
  await button('Back').click()
  const asking = page.waitForEvent('dialog')
  await page.evaluate('setTimeout(() => location.reload())')
  const question = await asking
  expect(question.type()).toBe('beforeunload')
  await question.dismiss()
  expect(await manifest().textContent()).toContain('name: draft')
  await link('Deployments').click()
  await button('Leave and lose the changes').click()
  await page.getByRole('heading', { name: 'Deployments', level: 1 }).waitFor()
})

test('pages of changes are accessible and no wider than the screen', PATIENCE, async () => {
  await deploy('exhibit')
  const values = { tenant: platform.acme.id, name: 'exhibit' }
  await examinePages(
    page,
    examinedRoutes.editor.map((route) => addressOf(route, values)),
  )
})
