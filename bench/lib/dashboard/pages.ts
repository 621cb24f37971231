// The pages that are measured, and how each is recognized once its data is shown.

import type { Page } from 'playwright-core'
import { WAITING } from './world.ts'

export interface KnownPage {
  readonly name: string
  /** Expression that is true in the page when its data is shown. */
  readonly isShown: string
  /** Clicks the link to the page. */
  open(page: Page): Promise<void>
}

const titled = (title: string): string => `document.querySelector('main h1')?.textContent === '${title}'`
/** Nothing is being read, and at least so many elements are there. */
const shows = (title: string, selector: string, least = 1): string =>
  `${titled(title)} && document.querySelectorAll('main [aria-busy=true]').length === 0 && document.querySelectorAll('${selector}').length >= ${least}`

const inNavigation = (name: string, selector: string): KnownPage => ({
  name,
  isShown: shows(name, selector),
  open: (page) => page.getByRole('navigation').getByRole('link', { name, exact: true }).click(),
})

/** Rows, or the sentences of the empty state. */
const CONTENT = 'main p, main li, main tbody tr'

/** The lists of the navigation. */
export const LISTS: readonly KnownPage[] = [
  inNavigation('Deployments', 'main tbody [data-row]'),
  inNavigation('Jobs', CONTENT),
  inNavigation('Volumes', CONTENT),
  inNavigation('Networks', CONTENT),
  inNavigation('Secrets', CONTENT),
  inNavigation('Backups', CONTENT),
  inNavigation('Nodes', 'main tbody tr'),
  inNavigation('Residency', CONTENT),
  inNavigation('Events', 'main li'),
  inNavigation('Access', CONTENT),
  inNavigation('Overview', 'main li'),
]

const tab = (name: string, selector: string, least = 1): KnownPage => ({
  name: `${WAITING}, ${name}`,
  isShown: `location.pathname.endsWith('/${name.toLowerCase()}') && ${shows(WAITING, selector, least)}`,
  open: (page) => page.getByRole('main').getByRole('link', { name, exact: true }).click(),
})

/** The tabs of the deployment that fits on no node. */
export const TABS: readonly KnownPage[] = [
  tab('Replicas', CONTENT),
  tab('History', CONTENT),
  tab('Events', CONTENT),
  tab('Why', 'main figure tbody tr', 16),
]
