// The first load of the overview with an empty cache, on a slow machine and connection.

import type { Browser } from 'playwright-core'
import { measureFirstLoad as filesOfFirstLoad } from '../../../scripts/dashboard/first-load.ts'
import { median } from '../stats.ts'
import { newContext, type SignedIn, slowDown } from './browser.ts'
import { numbers, paintedAt, recordPages } from './in-page.ts'
import { LISTS } from './pages.ts'
import type { DashboardWorld } from './world.ts'

export interface FirstLoad {
  readonly gzipBytes: number
  readonly largestPaintMs: number
  readonly blockedMs: number
  readonly shift: number
  /** Until the overview shows its data. */
  readonly shownMs: number
}

const LOADS = 5

export async function measureFirstLoad(
  browser: Browser,
  world: DashboardWorld,
  signedIn: SignedIn,
): Promise<FirstLoad> {
  const loads: Load[] = []
  for (let load = 0; load < LOADS; load += 1) loads.push(await loadOnce(browser, world, signedIn))
  const middle = (of: (load: Load) => number): number => median(loads.map(of))
  return {
    gzipBytes: filesOfFirstLoad(world.folder).reduce((sum, { bytes }) => sum + bytes, 0),
    largestPaintMs: middle(({ largest }) => largest),
    blockedMs: middle(({ blocked }) => blocked),
    shift: Math.max(...loads.map(({ shift }) => shift)),
    shownMs: middle(({ shown }) => shown),
  }
}

interface Load {
  readonly largest: number
  readonly blocked: number
  readonly shift: number
  readonly shown: number
}

const overview = LISTS.find(({ name }) => name === 'Overview')

/** The first load includes the tasks and shifts shortly after the data is shown. */
const SETTLE_MS = 2_000

async function loadOnce(browser: Browser, world: DashboardWorld, signedIn: SignedIn): Promise<Load> {
  const context = await newContext(browser, world, signedIn)
  await recordPages(context)
  const page = await context.newPage()
  await slowDown(page)
  await page.goto(`/ui/t/${world.tenant}`)
  const shownAt = await paintedAt(page, overview?.isShown ?? 'true')
  await page.waitForTimeout(SETTLE_MS)
  // Blocking time: what each task after the first paint took beyond 50 ms.
  const [largest = 0, blocked = 0, shift = 0, origin = 0] = await numbers(
    page,
    `[recorded.largest,
      recorded.tasks.filter(({ startTime, duration }) => startTime + duration > recorded.first)
        .reduce((sum, { duration }) => sum + duration - 50, 0),
      recorded.shifts.reduce((sum, value) => sum + value, 0), performance.timeOrigin]`,
  )
  await context.close()
  return { largest, blocked, shift, shown: shownAt - origin }
}
