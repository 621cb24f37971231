// From an input until the next paint, as the browser itself measures it: typing in the filter of the list, the buttons of its
// phases, the palette, and the rows of the why matrix.

import type { Page } from 'playwright-core'
import { numbers, paintedAt } from './in-page.ts'
import { LISTS, TABS } from './pages.ts'
import { WAITING } from './world.ts'

/** The browser reports no input that takes less. */
const LEAST_MS = 16

/** The duration of each input. */
export async function measureInputs(page: Page, tenant: string): Promise<number[]> {
  const count = { inputs: 0 }
  await page.goto(`/ui/t/${tenant}/deployments`)
  await paintedAt(page, LISTS[0]?.isShown ?? 'true')
  await page.evaluate('recorded.inputs = {}')
  await useList(page, count)
  await usePalette(page, count)
  const ofList = await numbers(page, 'Object.values(recorded.inputs)')
  await page.goto(`/ui/t/${tenant}/deployments/${WAITING}/why`)
  await paintedAt(page, TABS.at(-1)?.isShown ?? 'true')
  await page.evaluate('recorded.inputs = {}')
  await useMatrix(page, count)
  const slow = [...ofList, ...(await numbers(page, 'Object.values(recorded.inputs)'))]
  const quick = Array.from({ length: Math.max(0, count.inputs - slow.length) }, () => LEAST_MS)
  return [...slow, ...quick]
}

interface Count {
  inputs: number
}

const PAUSE_MS = 150

async function useList(page: Page, count: Count): Promise<void> {
  const filter = page.getByLabel('Filter by name')
  await filter.click()
  await type(page, 'shop-0012', count)
  for (let left = 0; left < 9; left += 1) await press(page, 'Backspace', count)
  for (const phase of ['Pending', 'Running', 'All']) {
    await page.getByRole('button', { name: phase, exact: true }).click()
    count.inputs += 1
    await page.waitForTimeout(PAUSE_MS)
  }
}

async function usePalette(page: Page, count: Count): Promise<void> {
  await press(page, 'Control+k', count)
  await type(page, 'why shop-007', count)
  for (let down = 0; down < 5; down += 1) await press(page, 'ArrowDown', count)
  await press(page, 'Escape', count)
}

async function useMatrix(page: Page, count: Count): Promise<void> {
  const rows = page.getByRole('figure').getByRole('row').getByRole('button')
  for (let row = 0; row < 8; row += 1) {
    await rows.nth(row).click()
    count.inputs += 1
    await page.waitForTimeout(PAUSE_MS)
  }
}

async function type(page: Page, text: string, count: Count): Promise<void> {
  for (const letter of text) await press(page, letter, count)
}

async function press(page: Page, key: string, count: Count): Promise<void> {
  await page.keyboard.press(key === ' ' ? 'Space' : key)
  count.inputs += 1
  await page.waitForTimeout(PAUSE_MS)
}
