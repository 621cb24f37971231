// The terminal of the dashboard with real engines and agents, on both server replicas: keys reach the command, its output and
// its end are shown, the size follows the window, and the keyboard finds its way out.

import { makeToken } from '@holdfast/testkit/platform/set-up'
import { type StreamsWorld, startStreamsWorld } from '@holdfast/testkit/streams/streams-world'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import {
  type BuiltDashboard,
  builtDashboard,
  launchChromium,
  signInAt,
  type Watched,
  watchedContext,
} from './watched-browser.ts'

let built: BuiltDashboard
let world: StreamsWorld
let browser: Browser
let watched: Watched | undefined

beforeAll(async () => {
  built = await builtDashboard()
  world = await startStreamsWorld({ ui: { folder: built.folder } })
  await world.deploy('web')
  browser = await launchChromium()
}, 180_000)
afterAll(async () => {
  await browser.close()
  await world.stop()
  built.remove()
})
afterEach(async () => {
  await watched?.context.close()
  expect(watched?.faults).toEqual([])
})

async function open(at: string, role: string, replica: number): Promise<Page> {
  watched = await watchedContext(browser, at)
  const token = await makeToken(world.platform.api(), world.tenant, role)
  return signInAt(watched.context, `/ui/t/${world.tenant}/deployments/web/terminal?replica=${replica}`, token)
}

const connected = (page: Page): Promise<void> => page.getByText('Connected', { exact: true }).waitFor()
const type = (page: Page, line: string): Promise<void> => page.keyboard.type(`${line}\n`)
/** Waits until the screen of the terminal has a text; its rows have no role of their own. */
const shows = (page: Page, text: string | RegExp): Promise<void> =>
  page.locator('.xterm-rows').getByText(text).first().waitFor()

test.each([
  ['the server that has the session of the node', 0, 1],
  ['the other server', 1, 1],
] as const)('keys, output and exit code through %s', async (_, at, replica) => {
  const url = [world.platform.baseUrl, world.other.baseUrl][at] ?? ''
  const page = await open(url, 'developer', replica)
  await connected(page)
  await type(page, 'echo $((40 + 2))-answer')
  await shows(page, '42-answer')
  await type(page, 'exit 7')
  await page.getByText('The command ended with exit code 7.').waitFor()
  await page.getByRole('button', { name: 'Connect' }).click()
  await connected(page)
})

test('the size of the terminal follows the window', async () => {
  const page = await open(world.platform.baseUrl, 'developer', 2)
  await connected(page)
  await page.setViewportSize({ width: 700, height: 700 })
  const columns = async (): Promise<number> => {
    await type(page, 'echo size=$(busybox stty size)')
    await shows(page, /size=\d+ \d+/)
    const rows = (await page.locator('.xterm-rows').textContent()) ?? ''
    return Number([...rows.matchAll(/size=\d+ (\d+)/g)].at(-1)?.[1])
  }
  await expect.poll(columns).toBeLessThan(90)
  await page.setViewportSize({ width: 1280, height: 800 })
  await expect.poll(columns).toBeGreaterThan(110)
})

test('the keyboard leaves the terminal with Ctrl M, and the terminal keeps every other key', async () => {
  const page = await open(world.platform.baseUrl, 'developer', 1)
  await connected(page)
  await page.keyboard.press('Control+k')
  await page.keyboard.press('Tab')
  await type(page, 'echo still-$((1 + 1))')
  await shows(page, 'still-2')
  expect(await page.getByRole('dialog').count()).toBe(0)
  await page.keyboard.press('Control+m')
  await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Connect again')
})

test('a command that does not exist is explained, and another replica is chosen by name', async () => {
  const page = await open(world.platform.baseUrl, 'developer', 1)
  await connected(page)
  await page.getByLabel('Command').fill('no-such-program')
  await page.getByRole('button', { name: 'Connect again' }).click()
  await page.getByText('The container has no program no-such-program').waitFor()
  await page.getByLabel('Command').fill('sh')
  await page.getByLabel('Replica').selectOption({ label: 'Replica 2 on node-2' })
  await connected(page)
  await type(page, 'hostname')
  expect(new URL(page.url()).search).toBe('?replica=2')
})

test('a role without the permission sees why the terminal is closed', async () => {
  const page = await open(world.platform.baseUrl, 'viewer', 1)
  await page.getByText('Needs the permission exec, which the role viewer lacks.').waitFor()
  expect(await page.getByRole('button', { name: 'Connect' }).count()).toBe(0)
})
