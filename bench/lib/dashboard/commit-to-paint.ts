// From the response that acknowledges a change until a page that was open before shows it.

import type { Page } from 'playwright-core'
import { paintedAt } from './in-page.ts'
import { LISTS } from './pages.ts'
import { type DashboardWorld, deploymentBody, deploymentName } from './world.ts'

const NAME = deploymentName(7)
const PAUSE_MS = 1_500

interface Watched {
  readonly path: string
  readonly isOpen: string
  /** True in the page when it shows so many desired replicas. */
  shows(replicas: number): string
}

const READY = `document.querySelector('main h1')?.parentElement?.textContent`
const ROW = `[...document.querySelectorAll('main tbody tr')].find((row) => row.textContent.includes('${NAME}'))?.textContent`

/** The places in which a change is awaited. */
export const WATCHED: { readonly [name: string]: Watched } = {
  'the page of the deployment': {
    path: `/deployments/${NAME}/why`,
    isOpen: `${READY}?.includes('ready')`,
    shows: (replicas) => `${READY}?.includes('of ${replicas} ready')`,
  },
  'the list of deployments': {
    path: '/deployments',
    isOpen: LISTS[0]?.isShown ?? 'true',
    shows: (replicas) => `${ROW}?.includes('/ ${replicas}')`,
  },
}

export async function measureCommitToPaint(
  page: Page,
  { api, image, tenant }: DashboardWorld,
  watched: Watched,
  changes: number,
): Promise<number[]> {
  await page.goto(`/ui/t/${tenant}${watched.path}`)
  await paintedAt(page, watched.isOpen)
  const times: number[] = []
  for (let change = 0; change < changes; change += 1) {
    // The change before has come to rest, so that pages show nothing else.
    await page.waitForTimeout(PAUSE_MS)
    const replicas = change % 2 === 0 ? 2 : 1
    const shown = paintedAt(page, watched.shows(replicas))
    const { status } = await api.put(`/api/v1/deployments/${NAME}`, deploymentBody(image, NAME, replicas))
    const acknowledged = performance.timeOrigin + performance.now()
    if (status !== 200) throw new Error(`changing ${NAME} returned ${status}`)
    // The page may show the change before the response arrives here.
    times.push(Math.max(0, (await shown) - acknowledged))
  }
  return times
}
