// Two ways to use a page: with a pointer, and with the keyboard alone. Both find elements by role and visible name, so one
// walk through the pages can be tested with either.

import { waitUntil } from '@holdfast/testkit'
import type { Locator, Page } from 'playwright-core'

export interface Hand {
  /** Presses a link or button once it is open. */
  press(target: Locator): Promise<void>
  /** Replaces the content of a text field. */
  fill(field: Locator, text: string): Promise<void>
}

export const pointer: Hand = {
  press: (target) => target.click(),
  fill: (field, text) => field.fill(text),
}

/** The most elements of a page that the keyboard passes on its way. */
const ELEMENTS = 150

export function keyboardOf(page: Page): Hand {
  const reach = async (target: Locator): Promise<void> => {
    await target.waitFor()
    const focused = target.and(page.locator(':focus'))
    for (let presses = 0; presses < ELEMENTS; presses += 1) {
      if ((await focused.count()) > 0) return
      await page.keyboard.press('Tab')
    }
    throw new Error(`the keyboard does not reach ${target}`)
  }
  return {
    async press(target) {
      await target.waitFor()
      await waitUntil(() => target.isEnabled(), { what: `${target} is open` })
      await reach(target)
      await page.keyboard.press('Enter')
    },
    async fill(field, text) {
      await reach(field)
      await page.keyboard.press('Control+A')
      await page.keyboard.insertText(text)
    },
  }
}
