// Scrolls through a whole list, which reads its pages on the way, and gives the tasks that were too long.

import type { Page } from 'playwright-core'
import { numbers, paintedAt } from './in-page.ts'
import { LISTS } from './pages.ts'

export interface Scrolled {
  readonly rows: number
  readonly seconds: number
  /** The durations of tasks that took 50 ms or longer. */
  readonly longTasks: readonly number[]
}

/** Scrolls a screen in every frame until the end of the list, and answers the number of rows. */
const SCROLL = `new Promise((resolve) => {
  let [still, last] = [0, -1];
  const step = () => {
    scrollBy(0, innerHeight * 0.9);
    const rows = Number(document.querySelector('main table')?.getAttribute('aria-rowcount'));
    still = scrollY === last ? still + 1 : 0;
    last = scrollY;
    if (rows > 0 && still > 30) resolve([rows - 1]);
    else requestAnimationFrame(step);
  };
  step();
})`

export async function scrollAll(page: Page, tenant: string): Promise<Scrolled> {
  await page.goto(`/ui/t/${tenant}/deployments`)
  await paintedAt(page, LISTS[0]?.isShown ?? 'true')
  await page.evaluate('recorded.tasks = []')
  const began = performance.now()
  const [rows = 0] = await numbers(page, SCROLL)
  const seconds = (performance.now() - began) / 1000
  const longTasks = await numbers(page, 'recorded.tasks.map(({ duration }) => duration)')
  return { rows, seconds, longTasks }
}
