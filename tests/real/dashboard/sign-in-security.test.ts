// A sign-in is worth nothing to others: to a page on a sibling subdomain, to a page of another site, after revocation, after its
// time, and to a member of another tenant. The origins are real: https, with names that the browser resolves to this machine.

import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { addressOf, examinedRoutes } from '@holdfast/dashboard/routes/examined-routes'
import { freePort } from '@holdfast/testkit'
import { type Certificates, makeCertificates } from '@holdfast/testkit/engines/certificates'
import { makeToken } from '@holdfast/testkit/platform/set-up'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import { type Platform, type Replica, startReplica } from '@holdfast/testkit/platform/start-platform'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { endSignIns } from './end-sign-ins.ts'
import { PATIENCE } from './examine-pages.ts'
import {
  type BuiltDashboard,
  builtDashboard,
  isLive,
  launchChromium,
  signInAt,
  type Watched,
  watchedContext,
} from './watched-browser.ts'

const COOKIE = '__Host-holdfast'
const HOME = 'console.platform.test'
const SIBLING = 'shop.platform.test'
const STRANGER = 'elsewhere.test'

let certificates: Certificates
let built: BuiltDashboard
let platform: Platform
let secure: Replica
let foreign: Server
let browser: Browser
let watched: Watched
/** The origin of the dashboard. */
let home: string

beforeAll(async () => {
  certificates = await makeCertificates()
  built = await builtDashboard()
  platform = await ownPlatform({ settings: { ui: { folder: built.folder } } })
  const [cert, key] = [certificates.path('server.crt'), certificates.path('server.key')]
  secure = await startReplica(platform, {}, { port: await freePort(), tls: { cert, key } })
  home = `https://${HOME}:${new URL(secure.baseUrl).port}`
  foreign = createServer({ cert: certificates.pem('server.crt'), key: certificates.pem('server.key') })
  foreign.on('request', (_, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>foreign</title>'),
  )
  await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve))
  browser = await launchChromium('--host-resolver-rules=MAP *.test 127.0.0.1')
  const deployment = { kind: 'Deployment', name: 'report', image: platform.image, replicas: 1 }
  for (const { token } of [platform.acme, platform.globex])
    expect((await platform.api(token).post('/api/v1/deployments', deployment)).status).toBe(201)
})
afterAll(async () => {
  await browser.close()
  foreign.closeAllConnections()
  foreign.close()
  await secure.stop()
  await platform.stop()
  certificates.remove()
  built.remove()
})

beforeEach(async () => {
  watched = await watchedContext(browser, home, { ignoreHTTPSErrors: true })
})
afterEach(async () => {
  await watched.context.close()
  expect(watched.faults).toEqual([])
})

const page = (rest = ''): string => `/ui/t/${platform.acme.id}${rest}`
const foreignPage = (host: string): string => `https://${host}:${(foreign.address() as AddressInfo).port}/`
const newToken = () => makeToken(platform.api(), platform.acme.id, 'developer')

/** The status of a request of the page itself, with its cookie. */
const statusFrom = (from: Page, path = '/api/v1/deployments'): Promise<unknown> =>
  from.evaluate(`fetch(${JSON.stringify(path)}).then(({ status }) => status)`)

/** Every way in which a page can send a request to another origin without being allowed to read the answer. */
const ATTEMPTS = (origin: string): string => `Promise.allSettled([
  fetch('${origin}/api/v1/deployments', { credentials: 'include', mode: 'no-cors' }),
  fetch('${origin}/api/v1/deployments/report', { credentials: 'include', mode: 'cors' }),
  fetch('${origin}/api/v1/deployments/report/restart', { credentials: 'include', mode: 'no-cors', method: 'POST' }),
  fetch('${origin}/api/v1/deployments/report', { credentials: 'include', method: 'DELETE' }),
  new Promise((resolve) => {
    const image = new Image()
    image.onload = image.onerror = resolve
    image.src = '${origin}/api/v1/deployments?image'
  }),
  new Promise((resolve) => {
    const frame = document.createElement('iframe')
    frame.name = 'frame'
    frame.onload = resolve
    document.body.append(frame)
    const form = document.createElement('form')
    form.target = 'frame'
    form.method = 'post'
    form.action = '${origin}/api/v1/deployments/report/rollback'
    document.body.append(form)
    form.submit()
  }),
]).then((settled) => settled.length)`

test.each([
  ['a sibling subdomain, which is the same site and sends the cookie', SIBLING, true],
  ['another site', STRANGER, false],
])('the cookie is useless from %s', async (_, host, sends) => {
  const own = await signInAt(watched.context, page('/deployments/report/why'), await newToken())
  expect(await statusFrom(own)).toBe(200)
  // Without this page, every request that the server logs is one of the foreign page.
  await own.close()
  const other = await watched.context.newPage()
  await other.goto(foreignPage(host))
  const sent = await countSentCookies(other)
  const before = secure.logLines.length
  expect(await other.evaluate(ATTEMPTS(home))).toBe(6)
  await expect.poll(() => requestsSince(before).length).toBe(6)
  for (const request of requestsSince(before)) {
    expect(request.status, JSON.stringify(request)).toBeGreaterThanOrEqual(400)
    expect(request).not.toHaveProperty('token')
  }
  expect(sent() > 0).toBe(sends)
  const { body } = await platform.api(platform.acme.token).get('/api/v1/deployments/report')
  expect(Object(body)).toMatchObject({ name: 'report', revision: 1 })
  const again = await watched.context.newPage()
  await again.goto(page())
  await isLive(again)
})

/** Counts the requests of a page with which the browser really sends the cookie. */
async function countSentCookies(from: Page): Promise<() => number> {
  let sent = 0
  const session = await watched.context.newCDPSession(from)
  session.on('Network.requestWillBeSentExtraInfo', ({ associatedCookies }) => {
    const own = associatedCookies.filter(({ cookie }) => cookie.name === COOKIE)
    if (own.some(({ blockedReasons }) => blockedReasons.length === 0)) sent += 1
  })
  await session.send('Network.enable')
  return () => sent
}

interface LoggedRequest {
  readonly msg: string
  readonly route: string
  readonly status: number
}

/** The requests that the server has logged since a line. */
const requestsSince = (line: number): LoggedRequest[] =>
  secure.logLines
    .slice(line)
    .map((text): LoggedRequest => JSON.parse(text))
    .filter(({ msg }) => msg === 'request')

test('another site can neither embed the dashboard nor keep a handle on its window', async () => {
  await signInAt(watched.context, page(), await newToken())
  const other = await watched.context.newPage()
  await other.goto(foreignPage(SIBLING))
  await other.evaluate(
    `document.body.append(Object.assign(document.createElement('iframe'), { src: '${home}/ui/' }))`,
  )
  await expect.poll(() => other.frames().length).toBe(2)
  await expect.poll(() => other.frames()[1]?.url()).toMatch(/^chrome-error:/)
  const opened = watched.context.waitForEvent('page')
  await other.evaluate(`void (window.opened = window.open('${home}/ui/'))`)
  await isLive(await opened)
  expect(await other.evaluate('window.opened.closed')).toBe(true)
})

test('the cookie is useless after its token was revoked', async () => {
  const token = await newToken()
  const own = await signInAt(watched.context, page(), token)
  const { body } = await platform.api(token).get('/api/v1/me')
  const path = `/api/v1/tenants/${platform.acme.id}/tokens/${Object(body).token.id}`
  expect((await platform.api(platform.acme.token).delete(path)).status).toBe(202)
  await own.getByLabel('API token').waitFor()
  expect((await watched.context.cookies()).map(({ name }) => name)).toContain(COOKIE)
  expect(await statusFrom(own)).toBe(401)
})

test.each(['expiresAt', 'usedAt'] as const)('the cookie is useless after its time (%s)', async (field) => {
  const own = await signInAt(watched.context, page(), await newToken())
  expect(await statusFrom(own)).toBe(200)
  const changed = await endSignIns(platform, field)
  expect(changed).toBeGreaterThan(0)
  await expect.poll(() => statusFrom(own)).toBe(401)
  await own.reload()
  await own.getByLabel('API token').waitFor()
})

/** Every page of a tenant. */
const PAGES = Object.values(examinedRoutes)
  .flatMap((routes): readonly string[] => routes)
  .filter((route) => route.startsWith('/t/$tenant'))

/** The address of a page in a tenant. A record that does not exist, such as the job, has a page that explains it. */
const addressIn = (tenant: string, route: string): string =>
  addressOf(route, {
    ...{ tenant, name: 'report', namespace: 'resources', resource: 'report-db', node: 'node_1' },
    ...{ job: 'job_1', volume: 'vol_1', backup: 'bak_1' },
  })

test('no address shows a page of another tenant', PATIENCE, async () => {
  const own = await signInAt(watched.context, page(), await newToken())
  for (const route of PAGES) {
    const address = addressIn(platform.globex.id, route)
    watched.responses.length = 0
    await own.goto(address)
    await own.getByRole('alert').waitFor()
    expect(await own.textContent('body'), address).not.toContain(platform.globex.name)
    const answers = watched.responses.filter((each) => each.url().includes('/api/v1/'))
    const answered = await Promise.all(
      answers.map(
        async (each) => [(await each.request().allHeaders())['x-tenant-id'], each.status()] as const,
      ),
    )
    for (const [tenant, status] of answered)
      if (tenant === platform.globex.id) expect(status, address).toBe(403)
  }
})

test('no secret is in a page, its storage, its addresses or its caches', PATIENCE, async () => {
  const token = await newToken()
  const value = `canary-${crypto.randomUUID()}`
  const api = platform.api(platform.acme.token)
  const written = await api.put('/api/v1/secrets/resources/report-db', { values: { PASSWORD: value } })
  expect(written.status, written.text).toBeLessThan(300)
  const own = await signInAt(watched.context, page(), token)
  const [cookie] = (await watched.context.cookies()).filter(({ name }) => name === COOKIE)
  const canaries = [token, value, cookie?.value ?? 'no cookie']
  expect(canaries[2]).toMatch(/^[\w-]{43}$/)
  for (const route of PAGES) {
    const address = addressIn(platform.acme.id, route)
    await own.goto(address)
    await isLive(own)
    const reachable = String(await own.evaluate(REACHABLE))
    for (const canary of canaries) expect(reachable.includes(canary), address).toBe(false)
  }
  const addresses = watched.responses.map((each) => each.url()).join('\n')
  for (const canary of canaries) expect(addresses.includes(canary)).toBe(false)
  for (const answer of watched.responses) {
    if (answer.status() >= 300 || answer.url().includes('stream') || answer.url().includes('/logs')) continue
    const text = await answer.text().catch(() => '')
    for (const canary of canaries) expect(text.includes(canary), answer.url()).toBe(false)
  }
})

/** Everything that a script of the page could read, as one text. */
const REACHABLE = `(async () => {
  const found = [document.documentElement.outerHTML, document.cookie, location.href, document.referrer]
  for (const element of document.querySelectorAll('input, textarea, select')) found.push(element.value)
  found.push(JSON.stringify({ ...localStorage }), JSON.stringify({ ...sessionStorage }), JSON.stringify(history.state))
  found.push(JSON.stringify(performance.getEntriesByType('resource').map(({ name }) => name)))
  for (const name of await caches.keys())
    for (const request of await (await caches.open(name)).keys()) found.push(request.url)
  found.push(JSON.stringify(await indexedDB.databases()))
  return found.join('\\n')
})()`
