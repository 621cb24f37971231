// Whether a page says how current it is: while the server restarts, without a network, and with six tabs open. The timers
// and connections of a browser decide it.

import { inRun } from '@holdfast/testkit/long-run'
import {
  type Platform,
  type Replica,
  startPlatform,
  startReplica,
} from '@holdfast/testkit/platform/start-platform'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  type BuiltDashboard,
  builtDashboard,
  isLive,
  launchChromium,
  signInAt,
  type Watched,
  watchedContext,
} from './watched-browser.ts'

/** The page must be right about its data within this time. */
const RIGHT_MS = 2_000
const OFFLINE_MS = inRun(4_000, 60_000)
const TABS = 6

let built: BuiltDashboard
let platform: Platform
let served: Replica
let browser: Browser
let watched: Watched

beforeAll(async () => {
  built = await builtDashboard()
  platform = await startPlatform({ settings: { ui: { folder: built.folder } } })
  // The pages are served by a second server, so that it can stop while the first one still accepts changes.
  served = await startReplica(platform)
  browser = await launchChromium()
  const deployment = { kind: 'Deployment', name: 'report', image: platform.image, replicas: 1 }
  const { status } = await platform.api(platform.acme.token).post('/api/v1/deployments', deployment)
  expect(status).toBe(201)
})
afterAll(async () => {
  await browser.close()
  await served.stop()
  await platform.stop()
  built.remove()
})

beforeEach(async () => {
  watched = await watchedContext(browser, served.baseUrl)
})
afterEach(async () => {
  await watched.context.close()
  expect(watched.faults).toEqual([])
})

const path = (rest: string): string => `/ui/t/${platform.acme.id}${rest}`
const open = (): Promise<Page> =>
  signInAt(watched.context, path('/deployments/report/why'), platform.acme.token)

/** Changes the number of replicas through the server that does not stop. */
async function scale(replicas: number): Promise<void> {
  const api = platform.api(platform.acme.token)
  const { body } = await api.get('/api/v1/deployments/report')
  expect((await api.put('/api/v1/deployments/report', { ...Object(body), replicas })).status).toBe(200)
}

/** A button of the page of tokens that changes something. */
const createToken = (page: Page) => page.getByRole('button', { name: 'Create a token', exact: true })

/** Fails unless the button is closed, has its reason beside it, and does nothing. */
async function isClosed(page: Page): Promise<void> {
  const button = createToken(page).and(page.locator('[aria-disabled=true]'))
  await button.waitFor({ timeout: RIGHT_MS })
  const reason = 'Closed while the page is not live: the data may be old.'
  await button.locator('..').getByText(reason, { exact: true }).waitFor({ timeout: RIGHT_MS })
  await button.click({ force: true })
  expect(await page.getByRole('dialog').count()).toBe(0)
}

/** Fails unless the button is open without a reason, and opens its form. */
async function isOpen(page: Page): Promise<void> {
  await createToken(page).and(page.locator(':not([aria-disabled])')).click()
  await page.getByRole('dialog', { name: 'Create a token' }).waitFor()
  expect(await page.getByText('Closed while the page is not live').count()).toBe(0)
}

/** Waits until the page shows that its data is old: in its pill, and by dimmed numbers. Returns how long that took. */
async function showsOld(page: Page): Promise<number> {
  const began = Date.now()
  await Promise.all([
    page.getByText(/^(?:Reconnecting|Offline)$/).waitFor({ timeout: RIGHT_MS }),
    page.locator('main[data-stale]').waitFor({ timeout: RIGHT_MS }),
  ])
  return Date.now() - began
}

async function showsLive(page: Page, reloads: () => number): Promise<void> {
  await isLive(page)
  await expect.poll(() => page.locator('main[data-stale]').count()).toBe(0)
  expect(reloads()).toBe(0)
}

/** Counts how often a page is loaded from now on. */
function countLoads(page: Page): () => number {
  let loads = 0
  page.on('load', () => {
    loads += 1
  })
  return () => loads
}

test('a page whose server restarts shows it within two seconds, and shows what it missed', async () => {
  const page = await open()
  const loads = countLoads(page)
  const { port } = new URL(served.baseUrl)
  await served.stop()
  console.log(`server stopped: the page showed it after ${await showsOld(page)} ms, at most ${RIGHT_MS}`)
  await scale(3)
  served = await startReplica(platform, {}, { port: Number(port) })
  await showsLive(page, loads)
  await page.getByText('0 of 3 ready').waitFor()
})

test(`a page without a network for ${OFFLINE_MS / 1000} s shows it, closes changes, and is right again`, async () => {
  const page = await open()
  const tokens = await watched.context.newPage()
  await tokens.goto(path('/access'))
  await isLive(tokens)
  await createToken(tokens).and(tokens.locator(':not([aria-disabled])')).waitFor()
  const loads = [countLoads(page), countLoads(tokens)]
  await watched.context.setOffline(true)
  console.log(`network lost: the page showed it after ${await showsOld(page)} ms, at most ${RIGHT_MS}`)
  await tokens.getByText('Offline', { exact: true }).waitFor({ timeout: RIGHT_MS })
  await isClosed(tokens)
  await scale(4)
  const until = Date.now() + OFFLINE_MS
  while (Date.now() < until) {
    expect(await page.locator('main[data-stale]').count()).toBe(1)
    expect(await page.getByText('Live', { exact: true }).count()).toBe(0)
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
  await watched.context.setOffline(false)
  for (const [at, tab] of [page, tokens].entries()) await showsLive(tab, loads[at] ?? (() => 0))
  await page.getByText('0 of 4 ready').waitFor()
  await isOpen(tokens)
})

test('with six tabs open, a click in each of them is answered', async () => {
  const pages = [await open()]
  for (let tab = 1; tab < TABS; tab += 1) {
    const page = await watched.context.newPage()
    await page.goto(path('/deployments/report/why'))
    await isLive(page)
    pages.push(page)
  }
  for (const page of pages) {
    const began = Date.now()
    await page.getByRole('link', { name: 'History' }).click()
    await page.getByText('revision 1', { exact: true }).first().waitFor({ timeout: RIGHT_MS })
    console.log(`a click with ${TABS} tabs open was answered after ${Date.now() - began} ms`)
  }
})
