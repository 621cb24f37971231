// The built dashboard in a browser, served by a real server: sign-in, live changes, one stream for all tabs, and the end of a
// sign-in. Every page is watched for violations of the content security policy.

import { rmSync } from 'node:fs'
import { addressOf, examinedRoutes, redirectingRoutes } from '@holdfast/dashboard/routes/examined-routes'
import { makeTempFolder } from '@holdfast/testkit'
import { makeToken } from '@holdfast/testkit/platform/set-up'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { buildDashboard } from '../../../scripts/dashboard/build.ts'
import { examinePages, PATIENCE } from './examine-pages.ts'

const folder = makeTempFolder('dashboard')
let platform: Platform
let browser: Browser
let context: BrowserContext
/** Violations of the policy, and exceptions of the page, as texts. */
let faults: string[]
/** The open change streams, each counted once. */
let streams: number

beforeAll(async () => {
  await buildDashboard(folder.path)
  platform = await ownPlatform({ settings: { ui: { folder: folder.path } } })
  browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
  const api = platform.api(platform.acme.token)
  const deployment = { kind: 'Deployment', name: 'report', image: platform.image, replicas: 1 }
  expect((await api.post('/api/v1/deployments', deployment)).status).toBe(201)
})
afterAll(async () => {
  await browser.close()
  await platform.stop()
  rmSync(folder.path, { recursive: true, force: true })
})

beforeEach(async () => {
  faults = []
  streams = 0
  context = await browser.newContext({ baseURL: platform.baseUrl, viewport: { width: 1280, height: 800 } })
  await context.exposeFunction('reportViolation', (text: string) => void faults.push(text))
  await context.addInitScript(
    `addEventListener('securitypolicyviolation', (event) => reportViolation(event.violatedDirective + ' ' + event.blockedURI))`,
  )
  context.on('page', (page) => page.on('pageerror', ({ message }) => void faults.push(message)))
  context.on('request', (request) => {
    if (request.url().endsWith('/changes/stream')) streams += 1
  })
})
afterEach(async () => {
  await context.close()
  expect(faults).toEqual([])
})

const address = (route: string): string => addressOf(route, { tenant: platform.acme.id, name: 'report' })
const whyPage = (): string => address('/t/$tenant/deployments/$name/why')

async function signIn(token = platform.acme.token): Promise<Page> {
  const page = await context.newPage()
  await page.goto(whyPage())
  await page.getByLabel('API token').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'report', level: 1 }).waitFor()
  return page
}

const isLive = (page: Page): Promise<void> => page.getByText('Live', { exact: true }).waitFor()

test('a page without sign-in opens the sign-in page and then itself, and a wrong token is explained', async () => {
  const page = await context.newPage()
  await page.goto(whyPage())
  const field = page.getByLabel('API token')
  await field.fill('hf_wrong')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('The server does not accept this token.').waitFor()
  expect(await field.inputValue()).toBe('')
  await field.fill(platform.acme.token)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'report', level: 1 }).waitFor()
  expect(new URL(page.url()).pathname).toBe(whyPage())
})

test('the token is nowhere in the page, its storage or its address', async () => {
  const page = await signIn()
  const reachable = `document.documentElement.outerHTML + JSON.stringify({ ...localStorage, ...sessionStorage }) +
    document.cookie + location.href`
  expect(await page.evaluate(reachable)).not.toContain(platform.acme.token)
  expect(await page.evaluate('document.cookie')).toBe('')
})

test('the search closes with Esc and by a click beside it, and the page stays', async () => {
  const page = await signIn()
  const field = page.getByRole('combobox', { name: 'Search or run' })
  await page.keyboard.press('Control+k')
  await field.fill('report')
  await page.getByRole('option').first().waitFor()
  await page.keyboard.press('Escape')
  await field.waitFor({ state: 'detached' })
  await page.keyboard.press('Control+k')
  await field.waitFor()
  await page.mouse.click(10, 790)
  await field.waitFor({ state: 'detached' })
  await page.getByRole('heading', { name: 'report', level: 1 }).waitFor()
})

test('a change of another client appears without a reload', async () => {
  const page = await signIn()
  await isLive(page)
  const api = platform.api(platform.acme.token)
  const { body } = await api.get('/api/v1/deployments/report')
  const sent = { ...Object(body), replicas: 2 }
  expect((await api.put('/api/v1/deployments/report', sent)).status).toBe(200)
  await page.getByText('0 of 2 ready').waitFor()
})

test('six tabs read one stream, and another tab continues it when its tab closes', async () => {
  const first = await signIn()
  await isLive(first)
  const others: Page[] = []
  for (let tab = 0; tab < 5; tab += 1) {
    const page = await context.newPage()
    await page.goto(whyPage())
    await isLive(page)
    others.push(page)
  }
  expect(streams).toBe(1)
  await first.close()
  await expect.poll(() => streams).toBe(2)
  for (const page of others) await isLive(page)
})

test('without a network the page is offline within two seconds, and current again without a reload', async () => {
  const page = await signIn()
  await isLive(page)
  await context.setOffline(true)
  await page.getByText('Offline', { exact: true }).waitFor({ timeout: 2_000 })
  expect(await page.locator('main[data-stale]').count()).toBe(1)
  await context.setOffline(false)
  await isLive(page)
  await expect.poll(() => page.locator('main[data-stale]').count()).toBe(0)
})

test('a revoked token ends the page', async () => {
  const token = await makeToken(platform.api(), platform.acme.id, 'viewer')
  const page = await signIn(token)
  await isLive(page)
  const { body } = await platform.api(token).get('/api/v1/me')
  const { id } = Object(body).token
  const path = `/api/v1/tenants/${platform.acme.id}/tokens/${id}`
  expect((await platform.api(platform.acme.token).delete(path)).status).toBe(202)
  await page.getByLabel('API token').waitFor()
})

test('a tenant of another person cannot be opened by its address', async () => {
  const page = await signIn()
  await page.goto(`/ui/t/${platform.globex.id}/deployments/report/why`)
  await page.getByRole('alert').waitFor()
  expect(await page.textContent('body')).not.toContain(platform.globex.name)
})

test('an address without a page leads to one', async () => {
  const page = await signIn()
  for (const [from, to] of Object.entries(redirectingRoutes)) {
    await page.goto(address(from))
    await page.waitForURL((url) => url.pathname === address(to))
  }
})

test('pages are accessible and no wider than the screen', PATIENCE, async () => {
  const unsigned = await context.newPage()
  await examinePages(unsigned, [address('/login')])
  await unsigned.close()
  const signedIn = examinedRoutes.dashboard.filter((route) => route !== '/login')
  await examinePages(await signIn(), [
    ...signedIn.map(address),
    address('/t/$tenant/deployments/$name/nothing'),
  ])
})
