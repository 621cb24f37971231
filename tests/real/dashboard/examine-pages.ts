// Examines pages of the dashboard with axe, in both schemes, on a phone and on a screen, and that none is wider than the
// window. Each page is opened once; scheme and size are switched in place, as a person would.

import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { isLive } from './watched-browser.ts'

/** The seconds that a whole set of pages may take on a loaded machine. */
export const PATIENCE = { timeout: 240_000 }

const WIDTHS = [360, 1280]
/** The rules that depend on colors. The scheme changes nothing else, so the second scheme needs no other rule. */
const COLOR_RULES = ['color-contrast', 'link-in-text-block']

export async function examinePages(page: Page, addresses: readonly string[]): Promise<void> {
  // Colors that are half-way to another scheme would be measured.
  await page.emulateMedia({ reducedMotion: 'reduce' })
  const found: string[] = []
  for (const address of addresses) {
    await page.goto(address)
    await isShown(page, address)
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 })
      found.push(...(await examine(page, `${address} at ${width} px`)))
    }
  }
  expect(found).toEqual([])
}

/** Waits until a page shows its data: no gray lines are left, and changes of other clients arrive. */
async function isShown(page: Page, address: string): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor()
  if (!address.endsWith('/login')) await isLive(page)
  await expect.poll(() => page.locator('[aria-busy=true]').count(), { message: address }).toBe(0)
  if (/\/(?:new|settings)$/.test(address) && address.includes('/deployments/'))
    await page.getByRole('textbox', { name: 'Manifest' }).waitFor()
}

async function examine(page: Page, look: string): Promise<string[]> {
  await expect
    .poll(() => page.evaluate('document.documentElement.scrollWidth - innerWidth'), { message: look })
    .toBe(0)
  await switchTo(page, 'light')
  const all = await violationsOf(page, `${look}, light`, axeOf(page))
  await switchTo(page, 'dark')
  return [...all, ...(await violationsOf(page, `${look}, dark`, axeOf(page).withRules(COLOR_RULES)))]
}

async function switchTo(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme })
  await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor()
}

/** Pages have no frames, so the results need not be gathered in another page. */
const axeOf = (page: Page): AxeBuilder => new AxeBuilder({ page }).setLegacyMode(true)

async function violationsOf(page: Page, look: string, axe: AxeBuilder): Promise<string[]> {
  const { violations } = await axe.analyze()
  return violations.map(({ id, nodes }) => `${look}: ${id} ${nodes[0]?.html} (${page.url()})`)
}
