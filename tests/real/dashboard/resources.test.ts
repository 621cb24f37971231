// The pages of jobs, volumes, networks, backups, residency and access in a browser, on a real server with a scripted agent:
// each page with data, and one change on each.

import { readFileSync, rmSync } from 'node:fs'
import { addressOf, examinedRoutes } from '@holdfast/dashboard/routes/examined-routes'
import { makeTempFolder } from '@holdfast/testkit'
import { makeNode } from '@holdfast/testkit/nodes/enroll'
import { makeVolumeReady, storeReadyVolume } from '@holdfast/testkit/nodes/ready-volume'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import { type JobAgent, openJobAgent } from '@holdfast/testkit/session/job-agent'
import { enrollVolumeNode } from '@holdfast/testkit/session/volume-agent'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { buildDashboard } from '../../../scripts/dashboard/build.ts'
import { examinePages, PATIENCE } from './examine-pages.ts'

const VOLUME = 'vol_01JD0000000000000000000000'
const NODE = 'node-1'
const folder = makeTempFolder('dashboard-resources')
let platform: Platform
let agent: JobAgent
let browser: Browser
let context: BrowserContext
let page: Page
/** Violations of the content security policy, and exceptions of the page, as texts. */
let faults: string[]

beforeAll(async () => {
  await buildDashboard(folder.path)
  platform = await ownPlatform({
    settings: {
      roles: ['api', 'broker', 'gateway', 'controllers'],
      volumes: { enabled: true },
      // The scripted agent sends no heartbeats.
      liveness: { unreachableSeconds: 3_000, failedSeconds: 3_600 },
      ui: { folder: folder.path },
    },
  })
  const api = platform.api(platform.acme.token)
  const node = await enrollVolumeNode(platform.baseUrl, api, NODE)
  agent = await openJobAgent(platform.baseUrl, node, () => 'run')
  await storeReadyVolume(platform, platform.acme.id, VOLUME)
  const deployment = { kind: 'Deployment', name: 'report', image: platform.image, replicas: 1 }
  expect((await api.post('/api/v1/deployments', deployment)).status).toBe(201)
  browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
})
afterAll(async () => {
  await browser.close()
  agent.close()
  await platform.stop()
  rmSync(folder.path, { recursive: true, force: true })
})

beforeEach(async () => {
  faults = []
  context = await browser.newContext({ baseURL: platform.baseUrl, viewport: { width: 1280, height: 800 } })
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await context.exposeFunction('reportViolation', (text: string) => void faults.push(text))
  await context.addInitScript(
    `addEventListener('securitypolicyviolation', (event) => reportViolation(event.violatedDirective + ' ' + event.blockedURI))`,
  )
  page = await context.newPage()
  page.on('pageerror', ({ message }) => void faults.push(message))
})
afterEach(async () => {
  await context.close()
  expect(faults).toEqual([])
})

const button = (name: string | RegExp) => page.getByRole('button', { name })
const inDialog = (name: string | RegExp) => page.getByRole('dialog').getByRole('button', { name })
const isLive = (): Promise<void> => page.getByText('Live', { exact: true }).waitFor()

/** Signs in and opens a page of the tenant; changes are open once it is live. */
async function open(path: string): Promise<void> {
  await page.goto(`/ui/t/${platform.acme.id}${path}`)
  await page.getByLabel('API token').fill(platform.acme.token)
  await button('Sign in').click()
  await isLive()
}

test('a job is run, shows its attempt, and is cancelled', async () => {
  await open('/jobs')
  await button('Run a job').click()
  await inDialog('Run it').click()
  await page.getByText('Not done. Correct the marked fields.').waitFor()
  await page.getByLabel('Name', { exact: true }).fill('migrate')
  await page.getByLabel('Image').fill(platform.image)
  await page.getByLabel('Command').fill(`sh -c 'echo "a b"'`)
  await inDialog('Run it').click()
  await page.getByRole('heading', { name: 'migrate', level: 1 }).waitFor()
  await page.getByText('running', { exact: true }).waitFor()
  await page.getByText('Job migrate was created.').waitFor()
  await page.getByText('sh -c echo "a b"').waitFor()
  await button('Cancel').click()
  await inDialog('Cancel migrate').click()
  await page.getByText('cancelled', { exact: true }).waitFor()
})

test('a network is created with its options, and deleted', async () => {
  await open('/networks')
  await button('Create a network').click()
  await page.getByLabel('Name', { exact: true }).fill('backend')
  await page.getByLabel('Node').selectOption(NODE)
  await page.getByLabel('Internal').check()
  await page.getByLabel('Labels').fill('team=shop')
  await inDialog('Create the network').click()
  await page.getByText('backend is being created.').waitFor()
  await page.getByRole('cell', { name: 'none, internal' }).waitFor()
  const { body } = await platform.api(platform.acme.token).get('/api/v1/networks')
  expect(Object(body)['items']).toMatchObject([
    { internal: true, driver: 'bridge', labels: { team: 'shop' } },
  ])
  await button('Delete backend').click()
  await inDialog('Delete backend').click()
  await page.getByText('backend is being deleted.').waitFor()
})

test('a backup is created, and its restore shows the fields that change', async () => {
  const api = platform.api(platform.acme.token)
  await open('/backups')
  await button('Create a backup').click()
  await inDialog('Create the backup').click()
  await page.getByText('A backup of report was created.').waitFor()
  const { body } = await api.get('/api/v1/deployments/report')
  expect((await api.put('/api/v1/deployments/report', { ...Object(body), replicas: 3 })).status).toBe(200)
  await page.getByRole('link', { name: 'report' }).click()
  await button('Restore').click()
  await page.getByText('3 → 1').waitFor()
  await inDialog('Restore revision 1 of report').click()
  await page.getByText('report is being restored.').waitFor()
  expect(Object((await api.get('/api/v1/deployments/report')).body)['replicas']).toBe(1)
})

const DELETED = /^(?:Deleting|gone)$/

async function phaseOfVolume(): Promise<string> {
  const { id, token } = platform.acme
  const { status, body } = await platform.api(token).get(`/api/v1/tenants/${id}/volumes/${VOLUME}`)
  return status === 404 ? 'gone' : String(body['phase'])
}

test('a volume is deleted only after its name was typed', async () => {
  await open('/volumes')
  await page.getByRole('link', { name: 'data' }).click()
  await page.getByRole('heading', { name: 'data', level: 1 }).waitFor()
  await page.getByText('If ', { exact: false }).first().waitFor()
  await button('Delete the volume data').click()
  await page.getByText('The data of data is lost').waitFor()
  await inDialog('Delete data and its data').click()
  await page.getByText('Type the name data exactly.').waitFor()
  expect(await phaseOfVolume()).not.toMatch(DELETED)
  await page.getByLabel('Type data to confirm').fill('data')
  await inDialog('Delete data and its data').click()
  // Without agents the volume may be gone before the page can report its deletion.
  await expect.poll(phaseOfVolume).toMatch(DELETED)
  await storeReadyVolume(platform, platform.acme.id, VOLUME)
})

test('a node shows its country and its volumes, and a volume the country of each copy', async () => {
  const { baseUrl, acme } = platform
  const token = { residency: { country: 'DE' } }
  const sent = { labels: { 'holdfast.io/country': 'DE' } }
  const id = await makeNode(baseUrl, platform.api(acme.token), 'node-de', { token, sent })
  await makeVolumeReady(platform, acme.id, VOLUME, { primary: id, replicas: [] })
  await open(`/nodes/${id}`)
  await page.getByText('DE, attested', { exact: true }).waitFor()
  const volumes = page.getByRole('region', { name: 'Volumes on this node' })
  await volumes.getByText('primary, 1 GiB, use not measured yet').waitFor()
  await volumes.getByRole('link', { name: 'data', exact: true }).click()
  const copy = page.getByRole('region', { name: 'Copies' }).getByRole('listitem').first()
  await copy.getByText('DE, attested', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'Nodes', exact: true }).click()
  await page.getByRole('link', { name: NODE, exact: true }).click()
  await page.getByText('not stated', { exact: true }).waitFor()
  await page.getByText('No volume has a copy on this node.').waitFor()
  await storeReadyVolume(platform, acme.id, VOLUME)
})

test('without volumes the page explains how they are enabled', async () => {
  // The answer is that of a server without these endpoints.
  await page.route('**/api/v1/dvm/volumes*', (route) =>
    route.continue({ url: `${platform.baseUrl}/api/v1/dvm/absent` }),
  )
  await open('/volumes')
  await page.getByText('Volumes are switched off on this platform').waitFor()
})

test('the residency report is downloaded as a file', async () => {
  await open('/residency')
  await page.getByRole('link', { name: 'report' }).first().waitFor()
  const downloading = page.waitForEvent('download')
  await button('Download as CSV').click()
  const csv = readFileSync(await (await downloading).path(), 'utf8')
  expect(csv.split('\r\n')[0]).toContain('"deployment","data","demand"')
  expect(csv).toContain('"report",')
})

test('a new token is copied unseen, gone when its dialog is closed, and revoked', async () => {
  await open('/access')
  await button('Create a token').click()
  await page.getByLabel('Name', { exact: true }).fill('ci')
  await inDialog('Create the token').click()
  await inDialog('Copy').click()
  await page.getByText('Copied', { exact: true }).waitFor()
  const token = String(await page.evaluate('navigator.clipboard.readText()'))
  expect((await platform.api(token).get('/api/v1/me')).status).toBe(200)
  expect(await page.content()).not.toContain(token)
  await inDialog('Show').click()
  await page.getByText(token).waitFor()
  await inDialog('I have stored it').click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await page.content()).not.toContain(token)
  await button('Revoke ci').click()
  await inDialog('Revoke ci').click()
  await page.getByText('ci is revoked.').waitFor()
  expect((await platform.api(token).get('/api/v1/me')).status).toBe(401)
})

test('the password of a registry is in no attribute and leaves its field when it is sent', async () => {
  await open('/access')
  await button(/^Set credential of/)
    .first()
    .click()
  await page.getByLabel('User name').fill('ci')
  const field = page.getByLabel('Password or token')
  await field.fill('canary-of-a-password')
  expect(await page.content()).not.toContain('canary-of-a-password')
  let held = false
  await page.route('**/credential', async (route) => {
    held = await page.evaluate(
      "[...document.querySelectorAll('input')].some((field) => field.value.includes('canary-of-a-password'))",
    )
    await route.continue()
  })
  await inDialog('Store it').click()
  await page.getByText(/The credential of .* is stored\./).waitFor()
  expect(held).toBe(false)
})

/** Stores a record and returns its id. */
async function store(path: string, body: object): Promise<string> {
  const stored = await platform.api(platform.acme.token).post(path, body)
  expect(stored.status, stored.text).toBe(201)
  return String(Object(stored.body['job'] ?? stored.body)['id'])
}

test('pages are accessible and no wider than the screen', PATIENCE, async () => {
  const job = await store('/api/v1/jobs', { kind: 'Job', name: 'report-once', image: platform.image })
  const backup = await store('/api/v1/backups', { deploymentName: 'report' })
  const values = { tenant: platform.acme.id, volume: VOLUME, job, backup }
  await open('/jobs')
  const routes = [...examinedRoutes.resources, '/t/$tenant/jobs/none']
  await examinePages(
    page,
    routes.map((route) => addressOf(route, values)),
  )
})
