// The reference at /docs: every page and link, its headers, and the pages in a browser.

import { AxeBuilder } from '@axe-core/playwright'
import { CODES } from '@holdfast/contract'
import { sharedPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

let platform: Platform
beforeAll(async () => {
  platform = await sharedPlatform()
})
afterAll(() => platform.stop())

const get = (path: string, headers = {}) =>
  fetch(`${platform.baseUrl}${path}`, { headers, redirect: 'manual' })

/** Reads every page that can be reached from the first one by links. */
async function readSite(): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  const waiting = ['/docs/']
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (found.has(path)) continue
    const response = await get(path)
    expect(response.status, path).toBe(200)
    found.set(path, await response.text())
    waiting.push(...linksOf(found.get(path) ?? '').map((link) => link.replace(/#.*$/, '')))
  }
  return found
}

const linksOf = (page: string): string[] =>
  [...page.matchAll(/href="(\/docs[^"]*)"/g)].map(([, link = '']) => link)

const idsOf = (page: string): Set<string> =>
  new Set([...page.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id))

describe('the reference without a browser', () => {
  test('every link leads to a page and to an element of it, and every code and operation has a page', async () => {
    const site = await readSite()
    // Each of tens of thousands of links is a search in a set, because an expectation of each takes seconds.
    const ids = new Map([...site].map(([path, page]) => [path, idsOf(page)]))
    const broken: string[] = []
    for (const [path, page] of site) {
      if (!page.startsWith('<!doctype html>')) continue
      expect(page.match(/<h1>/g), path).toHaveLength(1)
      for (const link of linksOf(page).filter((each) => each.includes('#'))) {
        const [target = '', anchor = ''] = link.split('#')
        if (ids.get(target)?.has(anchor) !== true) broken.push(`${path} -> ${link}`)
      }
    }
    expect(broken).toEqual([])
    for (const code of CODES) expect(site.has(`/docs/errors/${code}`), code).toBe(true)
    for (const { operation } of platform.server.endpoints)
      expect(site.has(`/docs/api/${operation}`), operation).toBe(true)
    for (const { href } of JSON.parse(await (await get('/docs/search.json')).text())) {
      const [target = '', anchor] = String(href).split('#')
      expect(site.get(target), href).toContain(anchor === undefined ? '<h1>' : `id="${anchor}"`)
    }
  })

  test('code pages show the numbers of this server instead of placeholders', async () => {
    expect(await (await get('/docs/errors/replicas_out_of_range')).text()).toContain('from 0 to 100')
    const page = await (await get('/docs/errors/healthcheck_timeout_below_floor')).text()
    expect(page).toContain('at least 10s')
    expect(page).not.toMatch(/&lt;(?:floor|max|min)&gt;/)
  })

  test('pages are cached by their ETag and forbid scripts and frames of others', async () => {
    const { headers } = await get('/docs/')
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'/)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    const again = await get('/docs/', { 'if-none-match': headers.get('etag') ?? '' })
    expect([again.status, await again.text()]).toEqual([304, ''])
    expect((await get('/docs/manifest', { 'if-none-match': headers.get('etag') ?? '' })).status).toBe(200)
  })

  test('the addresses that people and browsers try need no token', async () => {
    const home = await (await get('/docs/')).text()
    for (const path of ['/', '/docs']) expect(await (await get(path)).text()).toBe(home)
    expect((await get('/favicon.ico')).headers.get('content-type')).toContain('image/svg+xml')
    for (const path of ['/docs/unknown', '/docs/api/unknown', '/docs/errors/'])
      expect((await get(path)).status, path).toBe(404)
  })

  test('a search query is escaped', async () => {
    const page = await (
      await get(`/docs/search?q=${encodeURIComponent('"><script>alert(1)</script>')}`)
    ).text()
    expect(page).not.toContain('<script>alert')
    expect(page).toContain('&lt;script&gt;')
  })
})

describe('the reference in a browser', () => {
  const PAGES = [
    '/docs/',
    '/docs/manifest',
    '/docs/api/createDeployment',
    '/docs/schemas/Deployment',
    '/docs/errors/list_too_long',
    '/docs/roles',
  ]
  let browser: Browser
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
  })
  afterAll(() => browser.close())

  async function inPage(options: BrowserContextOptions, work: (page: Page) => Promise<void>): Promise<void> {
    const context = await browser.newContext({ baseURL: platform.baseUrl, ...options })
    const page = await context.newPage()
    const messages: string[] = []
    page.on('console', (message) => messages.push(message.text()))
    await work(page)
    expect(messages).toEqual([])
    await context.close()
  }

  test.each([
    { width: 390, colorScheme: 'light' },
    { width: 1280, colorScheme: 'dark' },
  ] as const)(
    'is accessible and cuts nothing off at $width px, $colorScheme',
    { timeout: 180_000 },
    async ({ width, colorScheme }) => {
      await inPage({ viewport: { width, height: 900 }, colorScheme }, async (page) => {
        for (const path of PAGES) {
          await page.goto(path)
          expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), path).toBe(0)
          expect(await page.evaluate(CUT_OFF), path).toEqual([])
          // A list of everything without a violation would cost more than the examination.
          const axe = new AxeBuilder({ page }).setLegacyMode(true).options({ resultTypes: ['violations'] })
          const { violations } = await axe.analyze()
          expect(violations.map(({ id, nodes }) => `${path} ${id} ${nodes[0]?.html}`)).toEqual([])
        }
      })
    },
  )

  /** The text of every element whose content is wider than the element. */
  const CUT_OFF = `[...document.querySelectorAll('pre, dd, li, p, h1, h2, h3')]
    .filter((each) => each.scrollWidth > each.clientWidth + 1).map((each) => each.textContent)`

  test('finds a field while the reader types', async () => {
    await inPage({}, async (page) => {
      await page.goto('/docs/')
      await page.fill('#q', 'retries')
      const first = page.locator('#results a').first()
      expect(await first.textContent()).toBe('healthCheck.retries')
      await first.click()
      expect(page.url()).toContain('/docs/manifest#healthCheck.retries')
    })
  })

  test('finds the same without JavaScript', async () => {
    await inPage({ javaScriptEnabled: false }, async (page) => {
      await page.goto('/docs/')
      await page.fill('#q', 'retries')
      await page.press('#q', 'Enter')
      expect(await page.locator('.found a').first().textContent()).toBe('healthCheck.retries')
    })
  })
})
