// Debian's chromium with the dashboard: signed in once, at full speed or slowed down as the budgets ask for.

import { type Browser, type BrowserContext, type CDPSession, chromium, type Page } from 'playwright-core'
import type { DashboardWorld } from './world.ts'

/** A busy machine needs minutes for what takes a quiet one a second. */
const PATIENCE_MS = 180_000

export const launchChromium = (): Promise<Browser> =>
  chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })

/** The cookie of a sign-in, for contexts that begin with an empty cache. */
export type SignedIn = Awaited<ReturnType<BrowserContext['storageState']>>

export async function signIn(browser: Browser, { url, tenant, token }: DashboardWorld): Promise<SignedIn> {
  const context = await browser.newContext({ baseURL: url })
  context.setDefaultTimeout(PATIENCE_MS)
  const page = await context.newPage()
  await page.goto(`/ui/t/${tenant}`)
  await page.getByLabel('API token').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await isLive(page)
  const state = await context.storageState()
  await context.close()
  return state
}

export const isLive = (page: Page): Promise<void> =>
  page.getByText('Live', { exact: true }).waitFor({ timeout: PATIENCE_MS })

export const newContext = async (
  browser: Browser,
  { url }: DashboardWorld,
  storageState: SignedIn,
): Promise<BrowserContext> => {
  const context = await browser.newContext({
    baseURL: url,
    storageState,
    viewport: { width: 1280, height: 800 },
  })
  context.setDefaultTimeout(PATIENCE_MS)
  return context
}

const SLOWDOWN = 4
const BYTES_PER_SECOND = 10_000_000 / 8
const LATENCY_MS = 40

/** Slows down the processor and the network of a page, as a weak laptop on a poor connection. */
export async function slowDown(page: Page): Promise<CDPSession> {
  const session = await page.context().newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN })
  await session.send('Network.enable')
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: LATENCY_MS,
    downloadThroughput: BYTES_PER_SECOND,
    uploadThroughput: BYTES_PER_SECOND,
  })
  return session
}
