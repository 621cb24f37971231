// Six tabs of one browser, all of them visible: a click in each, while nothing changes and while much changes.

import type { BrowserContext, Page } from 'playwright-core'
import { isLive } from './browser.ts'
import { startChanges } from './change-load.ts'
import { clickToPaint } from './in-page.ts'
import type { KnownPage } from './pages.ts'
import { type DashboardWorld, WAITING } from './world.ts'

const TABS = 6
const ROUNDS = 3

export interface TabClicks {
  readonly quiet: readonly number[]
  readonly busy: readonly number[]
}

export async function measureTabs(
  context: BrowserContext,
  world: DashboardWorld,
  pages: readonly KnownPage[],
): Promise<TabClicks> {
  const opened: Page[] = []
  for (let tab = 0; tab < TABS; tab += 1) {
    const page = await context.newPage()
    await page.goto(`/ui/t/${world.tenant}/deployments/${WAITING}/why`)
    await isLive(page)
    opened.push(page)
  }
  const quiet = await clickAll(opened, pages)
  const changes = startChanges({ ...world, perSecond: 50, deployments: 200 })
  const busy = await clickAll(opened, pages)
  await changes.stop()
  for (const page of opened) await page.close()
  return { quiet, busy }
}

async function clickAll(opened: readonly Page[], pages: readonly KnownPage[]): Promise<number[]> {
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round += 1)
    for (const page of opened) {
      // A person clicks in the tab in front.
      await page.bringToFront()
      for (const known of pages) {
        times.push(await clickToPaint(page, known.isShown, () => known.open(page)))
      }
    }
  return times
}
