// The parts of the benchmark. Each opens a context of its own, measures, and gives the rows of the table.

import type { Browser, Page } from 'playwright-core'
import { median } from '../stats.ts'
import { newContext, type SignedIn, slowDown } from './browser.ts'
import { measureCommitToPaint, WATCHED } from './commit-to-paint.ts'
import { measureFirstLoad } from './first-load.ts'
import { measureHeap, mebibytes } from './heap.ts'
import { recordPages } from './in-page.ts'
import { measureInputs } from './inputs.ts'
import { measurePageChanges, p95 } from './page-changes.ts'
import { LISTS, TABS } from './pages.ts'
import type { Row } from './results.ts'
import { scrollAll } from './scrolling.ts'
import { measureTabs } from './tabs.ts'
import { type DashboardWorld, WAITING } from './world.ts'

export interface Bench {
  readonly browser: Browser
  readonly world: DashboardWorld
  readonly signedIn: SignedIn
  /** How long the memory is watched. */
  readonly minutes: number
}

/** Runs a measurement in a new page, slowed down or not. */
async function inPage<T>(
  { browser, world, signedIn }: Bench,
  isSlow: boolean,
  run: (page: Page) => Promise<T>,
): Promise<T> {
  const context = await newContext(browser, world, signedIn)
  await recordPages(context)
  const page = await context.newPage()
  if (isSlow) await slowDown(page)
  try {
    return await run(page)
  } finally {
    await context.close()
  }
}

async function firstLoad({ browser, world, signedIn }: Bench): Promise<Row[]> {
  const load = await measureFirstLoad(browser, world, signedIn)
  return [
    { what: 'first load, gzip', value: load.gzipBytes / 1000, unit: 'kB', limit: 250 },
    { what: 'overview: largest paint', value: load.largestPaintMs, unit: 'ms', limit: 1_500 },
    { what: 'overview: blocking time', value: load.blockedMs, unit: 'ms', limit: 200 },
    { what: 'overview: layout shift, worst of five loads', value: load.shift, unit: '', limit: 0.02 },
    { what: 'overview: data shown', value: load.shownMs, unit: 'ms' },
  ]
}

const ROUNDS = 8

async function pageChanges(bench: Bench): Promise<Row[]> {
  const changes = await inPage(bench, true, async (page) => {
    await page.goto(`/ui/t/${bench.world.tenant}`)
    const lists = await measurePageChanges(page, LISTS, ROUNDS)
    await page.goto(`/ui/t/${bench.world.tenant}/deployments/${WAITING}/why`)
    return [...lists, ...(await measurePageChanges(page, TABS, ROUNDS))]
  })
  const warm = changes.flatMap(({ warmMs }) => warmMs)
  return [
    { what: 'page change, warm, p95 of all', value: p95(warm), unit: 'ms', limit: 100 },
    ...changes.map(({ name, coldMs, warmMs }) => ({
      what: `  ${name}: median warm (first ${coldMs.toFixed(0)} ms, most ${Math.max(...warmMs).toFixed(0)} ms)`,
      value: median(warmMs),
      unit: 'ms',
      limit: 100,
    })),
  ]
}

async function inputs(bench: Bench): Promise<Row[]> {
  const times = await inPage(bench, true, (page) => measureInputs(page, bench.world.tenant))
  return [
    { what: `input to paint, p95 of ${times.length}`, value: p95(times), unit: 'ms', limit: 200 },
    { what: 'input to paint, most', value: Math.max(...times), unit: 'ms' },
  ]
}

async function scrolling(bench: Bench): Promise<Row[]> {
  const { rows, seconds, longTasks } = await inPage(bench, true, (page) =>
    scrollAll(page, bench.world.tenant),
  )
  return [
    {
      what: `${rows} rows scrolled in ${seconds.toFixed(0)} s: longest task (${longTasks.length} over 50 ms)`,
      value: Math.max(0, ...longTasks),
      unit: 'ms',
      limit: 50,
    },
  ]
}

const CHANGES = 30

async function commits(bench: Bench): Promise<Row[]> {
  const rows: Row[] = []
  for (const [name, watched] of Object.entries(WATCHED)) {
    const times = await inPage(bench, false, (page) =>
      measureCommitToPaint(page, bench.world, watched, CHANGES),
    )
    rows.push(
      { what: `commit to paint, ${name}, p95 of ${times.length}`, value: p95(times), unit: 'ms', limit: 500 },
      { what: `commit to paint, ${name}, median`, value: median(times), unit: 'ms' },
    )
  }
  return rows
}

async function tabs({ browser, world, signedIn }: Bench): Promise<Row[]> {
  const context = await newContext(browser, world, signedIn)
  await recordPages(context)
  const { quiet, busy } = await measureTabs(context, world, TABS)
  await context.close()
  return [
    { what: 'six tabs: click to paint, p95', value: p95(quiet), unit: 'ms', limit: 500 },
    { what: 'six tabs: click to paint, most', value: Math.max(...quiet), unit: 'ms' },
    { what: 'six tabs, 50 changes a second: click to paint, p95', value: p95(busy), unit: 'ms', limit: 500 },
    { what: 'six tabs, 50 changes a second: click to paint, most', value: Math.max(...busy), unit: 'ms' },
  ]
}

async function heap({ browser, world, signedIn, minutes }: Bench): Promise<Row[]> {
  const context = await newContext(browser, world, signedIn)
  const found = await measureHeap(context, world, minutes)
  await context.close()
  const sizes = `${mebibytes(found.before)} to ${mebibytes(found.after)} MiB`
  const load = `${found.changesPerSecond.toFixed(1)} changes a second, ${found.failed} failed`
  return [
    {
      what: `heap after ${minutes} min, ${sizes}; ${load}`,
      value: found.growth * 100,
      unit: '%',
      limit: 10,
    },
    { what: 'cores busy on the machine in that time', value: found.busyCores, unit: '' },
  ]
}

export const PARTS: { readonly [name: string]: (bench: Bench) => Promise<Row[]> } = {
  load: firstLoad,
  pages: pageChanges,
  inputs,
  scroll: scrolling,
  commits,
  tabs,
  heap,
}
