// The memory of a page that stays open while many records change: its heap after a garbage collection, at the beginning and at
// the end. The page visits the same pages in turn, so that what it keeps of each is there at the beginning already.

import type { BrowserContext, CDPSession, Page } from 'playwright-core'
import { busyMicros } from '../cpu.ts'
import { isLive } from './browser.ts'
import { startChanges } from './change-load.ts'
import { type DashboardWorld, deploymentName } from './world.ts'

export interface HeapResult {
  readonly before: number
  readonly after: number
  /** The growth as a share of the heap at the beginning. */
  readonly growth: number
  readonly changesPerSecond: number
  readonly failed: number
  readonly busyCores: number
}

const RATE = 50
const CHANGED = 200
const VISIT_MS = 5_000
/**
 * The cache keeps the data of a page for five minutes after the page was left, and the browser compiles code that runs often. So a
 * long measurement begins after five minutes, and a short one after a tenth of its time.
 */
const warmUpMinutes = (minutes: number): number => Math.min(5, minutes / 10)

const visits = (tenant: string): readonly string[] =>
  [
    '',
    '/deployments',
    `/deployments/${deploymentName(0)}/why`,
    '/nodes',
    '/events',
    '/deployments/waiting/why',
  ].map((path) => `/ui/t/${tenant}${path}`)

export async function measureHeap(
  context: BrowserContext,
  world: DashboardWorld,
  minutes: number,
): Promise<HeapResult> {
  const page = await context.newPage()
  await page.goto(`/ui/t/${world.tenant}`)
  await isLive(page)
  const session = await context.newCDPSession(page)
  const { api, image } = world
  const changes = startChanges({ api, image, perSecond: RATE, deployments: CHANGED })
  const warmAt = performance.now() + warmUpMinutes(minutes) * 60_000
  do await visitAll(page, world.tenant)
  while (performance.now() < warmAt)
  const before = await heapAfterCollection(session)
  const start = { busy: busyMicros(), at: performance.now() }
  console.log(`  heap at the beginning ${mebibytes(before)} MiB`)
  for (let round = 1; performance.now() - start.at < minutes * 60_000; round += 1) {
    await visitAll(page, world.tenant)
    const now = await heapAfterCollection(session)
    const passed = (performance.now() - start.at) / 60_000
    if (round % 10 === 0) console.log(`  after ${passed.toFixed(1)} min ${mebibytes(now)} MiB`)
  }
  const after = await heapAfterCollection(session)
  const seconds = (performance.now() - start.at) / 1000
  const busyCores = (busyMicros() - start.busy) / seconds / 1e6
  const counted = await changes.stop()
  await page.close()
  return {
    before,
    after,
    growth: after / before - 1,
    changesPerSecond: counted.done / seconds,
    failed: counted.failed,
    busyCores,
  }
}

export const mebibytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(1)

/** Moves through the pages without a load, as a click does, and ends where it began. */
async function visitAll(page: Page, tenant: string): Promise<void> {
  for (const path of [...visits(tenant).slice(1), ...visits(tenant).slice(0, 1)]) {
    await page.evaluate(
      `history.pushState({}, '', ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent('popstate'))`,
    )
    await page.waitForTimeout(VISIT_MS)
  }
}

async function heapAfterCollection(session: CDPSession): Promise<number> {
  // The second collection frees what finalizers of the first one released.
  for (let round = 0; round < 2; round += 1) await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  return usedSize
}
