// Browsers for tests of the dashboard. Every page is watched: violations of the content security policy and exceptions are
// faults, and each address and response that the browser saw is kept.

import { rmSync } from 'node:fs'
import { makeTempFolder } from '@holdfast/testkit'
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
  type Response,
} from 'playwright-core'
import { buildDashboard } from '../../../scripts/dashboard/build.ts'

export interface Watched {
  readonly context: BrowserContext
  /** Violations of the policy, and exceptions of pages, as texts. */
  readonly faults: string[]
  readonly responses: Response[]
}

export const launchChromium = (...args: string[]): Promise<Browser> =>
  chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', ...args] })

export async function watchedContext(
  browser: Browser,
  baseURL: string,
  options: BrowserContextOptions = {},
): Promise<Watched> {
  const context = await browser.newContext({ baseURL, viewport: { width: 1280, height: 800 }, ...options })
  const watched: Watched = { context, faults: [], responses: [] }
  await context.exposeFunction('reportViolation', (text: string) => void watched.faults.push(text))
  await context.addInitScript(
    `addEventListener('securitypolicyviolation', (event) => reportViolation(event.violatedDirective + ' ' + event.blockedURI))`,
  )
  context.on('page', (page) => page.on('pageerror', ({ message }) => void watched.faults.push(message)))
  context.on('response', (response) => void watched.responses.push(response))
  return watched
}

/** Opens a page of the dashboard, signs in, and waits until its title is shown. */
export async function signInAt(context: BrowserContext, path: string, token: string): Promise<Page> {
  const page = await context.newPage()
  await open(page, path)
  await page.getByLabel('API token').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await isLive(page)
  return page
}

/**
 * Opens a page until its sign-in is shown. The browser drops its requests when a network of the machine appears, as the
 * networks of engines do.
 */
async function open(page: Page, path: string): Promise<void> {
  const field = page.getByLabel('API token')
  for (let tries = 0; tries < 3; tries += 1) {
    await page.goto(path).catch(() => null)
    const shown = await field.waitFor({ timeout: 10_000 }).then(
      () => true,
      () => false,
    )
    if (shown) return
  }
}

export const isLive = (page: Page): Promise<void> => page.getByText('Live', { exact: true }).waitFor()

export interface BuiltDashboard {
  readonly folder: string
  remove(): void
}

export async function builtDashboard(): Promise<BuiltDashboard> {
  const { path } = makeTempFolder('dashboard')
  await buildDashboard(path)
  return { folder: path, remove: () => rmSync(path, { recursive: true, force: true }) }
}
