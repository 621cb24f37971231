// Examines pages of the dashboard with axe, in both schemes, on a phone and on a screen, and that none is wider than the
// window. Each page is opened once; scheme and size are switched in place, as a person would. A CI run examines each page at
// one of the widths.

import { AxeBuilder } from '@axe-core/playwright'
import { isInTurn } from '@holdfast/testkit/rotation'
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
  for (const [at, address] of addresses.entries()) {
    await page.goto(address)
    await isShown(page, address)
    for (const [index, width] of WIDTHS.entries()) {
      const look = `${address} at ${width} px`
      await page.setViewportSize({ width, height: 800 })
      await fits(page, look)
      if (isInTurn('page-widths', at + index)) found.push(...(await examine(page, look)))
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

const fits = (page: Page, look: string): Promise<void> =>
  expect
    .poll(() => page.evaluate('document.documentElement.scrollWidth - innerWidth'), { message: look })
    .toBe(0)

async function examine(page: Page, look: string): Promise<string[]> {
  await switchTo(page, 'light')
  const all = await violationsOf(page, `${look}, light`, axeOf(page))
  await switchTo(page, 'dark')
  return [...all, ...(await violationsOf(page, `${look}, dark`, axeOf(page).withRules(COLOR_RULES)))]
}

async function switchTo(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme })
  await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor()
}

/**
 * Pages have no frames, so the results need not be gathered in another page. A list of everything without a violation would
 * cost more than the examination.
 */
const axeOf = (page: Page): AxeBuilder =>
  new AxeBuilder({ page }).setLegacyMode(true).options({ resultTypes: ['violations'] })

async function violationsOf(page: Page, look: string, axe: AxeBuilder): Promise<string[]> {
  const { violations } = await axe.analyze()
  return violations.map(({ id, nodes }) => `${look}: ${id} ${nodes[0]?.html} (${page.url()})`)
}
