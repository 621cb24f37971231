// Pages show a viewer every change closed with its reason, remedies lead to the page that helps, a cordon is undone, the timeline
// shows who did it, and single keys walk through a list until a person turns them off.

import { makeToken } from '@holdfast/testkit/platform/set-up'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type OperationsWorld, startOperationsWorld } from './operations-world.ts'
import { launchChromium, signInAt, type Watched, watchedContext } from './watched-browser.ts'

const GIB = 2 ** 30
const CLOSED = '[aria-disabled=true], [disabled]'
let world: OperationsWorld
let browser: Browser
let watched: Watched

beforeAll(async () => {
  world = await startOperationsWorld(['acme-1', 'acme-2'])
  browser = await launchChromium()
  // acme-1 accepts nothing and acme-2 has too little memory, so report has no node.
  expect((await acme().post(`/api/v1/nodes/${await nodeId('acme-1')}/cordon`, undefined)).status).toBe(200)
  await deploy('ballast', { resources: { memoryBytes: 3 * GIB } })
  await deploy('report', { resources: { memoryBytes: 2 * GIB } })
})
afterAll(async () => {
  await browser?.close()
  await world?.stop()
})

beforeEach(async () => {
  watched = await watchedContext(browser, world.platform.baseUrl)
})
afterEach(async () => {
  await watched.context.close()
  expect(watched.faults).toEqual([])
})

const acme = () => world.platform.api(world.platform.acme.token)
const pathOf = (rest: string): string => `/ui/t/${world.platform.acme.id}${rest}`
const open = (rest: string, token = world.platform.acme.token): Promise<Page> =>
  signInAt(watched.context, pathOf(rest), token)

async function deploy(name: string, more: object): Promise<void> {
  const body = { kind: 'Deployment', name, image: world.platform.image, replicas: 1, ...more }
  const { status, text } = await acme().post('/api/v1/deployments', body)
  expect(status, text).toBe(201)
}

async function nodeId(name: string): Promise<string> {
  const { body } = await acme().get('/api/v1/nodes')
  const nodes: { id: string; name: string }[] = Object.values(Object(body['items']))
  return nodes.find((node) => node.name === name)?.id ?? ''
}

async function setQuota(containers: number): Promise<void> {
  const path = `/api/v1/tenants/${world.platform.acme.id}`
  const { status, text } = await world.platform.api().send('PATCH', path, { quotas: { containers } })
  expect(status, text).toBe(200)
}

/** Waits for the closed button, and for the permission that it needs beside it. */
async function isClosed(button: Locator, permission: string): Promise<void> {
  await button.and(button.page().locator(CLOSED)).waitFor()
  const reason = `Needs the permission ${permission}, which the role viewer lacks.`
  await button.locator('..').getByText(reason, { exact: true }).waitFor()
}

test('a viewer sees the changes of a deployment, a node and a secret closed, with the permission', async () => {
  const { id } = world.platform.acme
  const page = await open('/deployments/report/why', await makeToken(world.platform.api(), id, 'viewer'))
  await isClosed(page.getByRole('button', { name: 'Uncordon acme-1' }), 'nodes:write')

  await page.goto(pathOf(`/nodes/${await nodeId('acme-2')}`))
  const cordon = page.getByRole('button', { name: 'Cordon acme-2', exact: true })
  await isClosed(cordon, 'nodes:write')
  await cordon.click({ force: true })

  await page.goto(pathOf('/secrets/new?path=resources/orders-db'))
  await isClosed(page.getByRole('button', { name: 'Write 1 key as a new version' }), 'secrets:write')

  const { body } = await acme().get(`/api/v1/nodes/${await nodeId('acme-2')}`)
  expect(body['schedulable']).toBe(true)
})

test('a remedy that frees memory leads to what is on the node', async () => {
  const page = await open('/deployments/report/why')
  const remedy = page.getByRole('listitem').filter({ hasText: /^\d*Free .* on acme-2\./ })
  await remedy.getByRole('link', { name: 'What is there: acme-2' }).click()
  await page.getByRole('heading', { name: 'acme-2', level: 1 }).waitFor()
  await page.getByRole('link', { name: /^ballast\// }).waitFor()
})

test('a remedy that raises a quota leads an administrator to the quotas, and tells others who can', async () => {
  await setQuota(1)
  const page = await open('/deployments/report/why')
  const remedy = page.getByRole('listitem').filter({ hasText: 'Raise the containers quota to' }).first()
  await remedy.getByText('A platform administrator raises quotas.').waitFor()
  expect(await page.getByRole('link', { name: 'Open the quotas' }).count()).toBe(0)
  await page.close()
  await watched.context.clearCookies()

  const admin = await open('/deployments/report/why', world.platform.platformToken)
  await admin.getByRole('link', { name: 'Open the quotas' }).first().click()
  await admin.getByRole('heading', { name: world.platform.acme.name, level: 1 }).waitFor()
  await admin.getByLabel('Limit of containers').waitFor()
  await setQuota(500)
})

test('a cordon is undone, and the timeline up to its time shows its author', async () => {
  const page = await open(`/nodes/${await nodeId('acme-2')}`)
  await page.getByRole('button', { name: 'Cordon acme-2', exact: true }).click()
  await page.getByText('acme-2 accepts no new replicas. Those on it keep running.').waitFor()
  const between = new Date().toISOString()
  await page.getByRole('button', { name: 'Undo', exact: true }).click()
  await page.getByText('acme-2 accepts new replicas.').waitFor()
  const { body } = await acme().get(`/api/v1/nodes/${await nodeId('acme-2')}`)
  expect(body['schedulable']).toBe(true)

  const { body: me } = await acme().get('/api/v1/me')
  await page.goto(pathOf('/events'))
  const entryOf = (act: string) => page.getByRole('listitem').filter({ hasText: `${act} acme-2` })
  await entryOf('uncordoned node').first().waitFor()
  await page.getByLabel('Until a time: 14:05, or 2h').fill(between)
  await page.getByRole('button', { name: 'Show', exact: true }).click()
  await entryOf('uncordoned node').first().waitFor({ state: 'detached' })
  await entryOf('cordoned node')
    .getByText(`token ${Object(me['token']).name}`, { exact: true })
    .first()
    .waitFor()
})

test('single keys find and open a deployment, and do nothing once they are turned off', async () => {
  const page = await open('/deployments')
  const rows = page.locator('main [data-row]')
  await rows.nth(1).waitFor()
  const names = await rows.allTextContents()
  const focused = (): Promise<string | null> =>
    page.locator('main [data-row]:focus').textContent({ timeout: 5_000 })
  await page.keyboard.press('j')
  expect(await focused()).toBe(names[0])
  await page.keyboard.press('j')
  expect(await focused()).toBe(names[1])
  await page.keyboard.press('k')
  expect(await focused()).toBe(names[0])
  await page.keyboard.press('/')
  await page.locator('main input:focus').fill(names[1] ?? '')
  await expect.poll(() => rows.allTextContents()).toEqual([names[1]])
  // In a field a key is a letter.
  await page.keyboard.press('j')
  await expect.poll(() => rows.count()).toBe(0)
  await page.keyboard.press('Backspace')
  await expect.poll(() => rows.allTextContents()).toEqual([names[1]])
  await page.locator('main input:focus').blur()
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: names[1] ?? '', level: 1 }).waitFor()

  const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await page.keyboard.press('?')
  await dialog.getByRole('switch', { checked: true }).click()
  await dialog.getByRole('switch', { checked: false }).waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await page.goto(pathOf('/deployments'))
  await rows.first().waitFor()
  for (const key of ['j', 'k', '/', '?']) await page.keyboard.press(key)
  // The palette opens by Ctrl K as before, and after it every single key would have been handled.
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search or run' }).waitFor()
  expect(await dialog.count()).toBe(0)
  await page.keyboard.press('Escape')
  expect(await page.locator('main :focus').count()).toBe(0)
})
