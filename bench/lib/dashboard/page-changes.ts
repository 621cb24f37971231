// From a click on a link until the page with its data is painted: first while its code and data are read, then warm.

import type { Page } from 'playwright-core'
import { percentile } from '../stats.ts'
import { clickToPaint } from './in-page.ts'
import type { KnownPage } from './pages.ts'

export interface PageChange {
  readonly name: string
  readonly coldMs: number
  readonly warmMs: readonly number[]
}

export async function measurePageChanges(
  page: Page,
  pages: readonly KnownPage[],
  rounds: number,
): Promise<PageChange[]> {
  const times = new Map(pages.map(({ name }) => [name, [] as number[]]))
  for (let round = 0; round <= rounds; round += 1)
    for (const known of pages) {
      times.get(known.name)?.push(await clickToPaint(page, known.isShown, () => known.open(page)))
    }
  return [...times].map(([name, [coldMs = Number.NaN, ...warmMs]]) => ({ name, coldMs, warmMs }))
}

export const p95 = (times: readonly number[]): number => percentile(times, 0.95)
