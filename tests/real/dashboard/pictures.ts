// Pictures of pages for the documents: on a screen in both schemes, and on a phone.

import { join } from 'node:path'
import type { Page } from 'playwright-core'

const LOOKS = [
  { look: 'dark', width: 1280, height: 800, colorScheme: 'dark' },
  { look: 'light', width: 1280, height: 800, colorScheme: 'light' },
  { look: 'phone', width: 390, height: 844, colorScheme: 'light' },
] as const
const USUAL = { width: 1280, height: 800 }

/** Returns a function that takes the pictures of the page as it is now, as `<name>-<look>.png` in the folder. */
export const picturesIn =
  (folder: string, page: Page) =>
  async (name: string): Promise<void> => {
    for (const { look, colorScheme, ...size } of LOOKS) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize(size)
      // A page that is laid out again shows its charts and tables in the next frame.
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
      await page.screenshot({ path: join(folder, `${name}-${look}.png`), animations: 'disabled' })
    }
    await page.emulateMedia({ colorScheme: null })
    await page.setViewportSize(USUAL)
  }
