// The five tasks of a person who sees the dashboard for the first time. Each begins on the overview and finds everything by
// role and visible name.

import type { Locator, Page } from 'playwright-core'
import type { Hand } from './hands.ts'

export interface Newcomer {
  readonly page: Page
  readonly hand: Hand
  /** Takes a picture of the page; absent if none is wanted. */
  look?(name: string): Promise<void>
}

const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true })
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true })
const shows = (page: Page, text: string) => page.getByText(text, { exact: true }).first().waitFor()

async function openDeployment({ page, hand }: Newcomer, name: string, tab: string): Promise<void> {
  await hand.press(link(page, 'Deployments'))
  await hand.press(link(page, name))
  await hand.press(link(page, tab))
}

/** Makes `report`, which fits nowhere, run by the remedy that is listed first. */
export async function applyCheapestRemedy(newcomer: Newcomer, remedy: string): Promise<void> {
  const { page, hand } = newcomer
  await link(page, 'Review report').waitFor()
  await newcomer.look?.('overview')
  await hand.press(link(page, 'Review report'))
  const first = page.getByRole('list').getByRole('listitem').filter({ hasText: remedy }).first()
  await first.waitFor()
  await newcomer.look?.('why')
  await hand.press(first.getByRole('button', { name: remedy }))
  await shows(page, 'Running')
  await page.getByText('1 of 1 ready').first().waitFor()
}

export interface FaultyManifest {
  readonly faulty: string
  readonly sound: string
  /** The lines with faults, as their buttons are called. */
  readonly lines: readonly string[]
  readonly hint: string
}

/** Deploys a manifest with three faults: reads them, mends them, looks at the plan, and waits until all replicas are ready. */
export async function deployFaultyManifest(
  newcomer: Newcomer,
  { faulty, sound, lines, hint }: FaultyManifest,
): Promise<void> {
  const { page, hand } = newcomer
  const manifest = page.getByRole('textbox', { name: 'Manifest' })
  await hand.press(link(page, 'Deployments'))
  await hand.press(link(page, 'New deployment'))
  await hand.fill(manifest, faulty)
  await page.getByRole('heading', { name: '3 faults to mend' }).waitFor()
  for (const line of lines) await button(page, line).waitFor()
  await page.getByText(hint).waitFor()
  await newcomer.look?.('editor')
  // The button of a fault puts the cursor at its line.
  await hand.press(button(page, lines[1] ?? ''))
  await hand.fill(manifest, sound)
  await page.getByText('No fault found').waitFor()
  await hand.press(button(page, 'Preview'))
  const apply = button(page, 'Apply: start 3 containers')
  await apply.waitFor()
  await newcomer.look?.('plan')
  await hand.press(apply)
  await shows(page, '3 of 3 replicas are ready')
}

export interface Damage {
  readonly deployment: string
  /** The change as the history shows it, and as the plan of its rollback does. */
  readonly change: string
  readonly undone: string
  readonly revision: number
  readonly rollBack: string
}

/** Finds what changed in a deployment a minute ago, and rolls it back. */
export async function rollBackChange(newcomer: Newcomer, damage: Damage): Promise<void> {
  const { page, hand } = newcomer
  await openDeployment(newcomer, damage.deployment, 'History')
  await page.getByText(damage.change).first().waitFor()
  await hand.press(link(page, `Roll back to revision ${damage.revision}`).first())
  await page.getByText(damage.undone).waitFor()
  await hand.press(button(page, damage.rollBack))
  await page.getByRole('heading', { name: 'Rollout' }).waitFor()
  await shows(page, 'Running')
}

/** Lets a machine join by the command of the page, and sees it ready. */
export async function joinMachine(
  { page, hand }: Newcomer,
  name: string,
  run: (command: string) => Promise<void>,
): Promise<void> {
  await hand.press(link(page, 'Nodes'))
  await hand.press(link(page, 'Join a machine'))
  await hand.fill(page.getByLabel('Name of the node'), name)
  await hand.press(button(page, 'Create the join command'))
  await page.getByText(`Waiting until ${name} enrolls.`).waitFor()
  const shown = page.getByRole('region', { name: 'Run this on the machine, as root' }).last()
  await hand.press(shown.getByRole('button', { name: 'Show' }))
  await shown.getByText('--token').waitFor()
  const command = (await shown.locator('code').textContent()) ?? ''
  await run(command)
  await page.getByText(`${name} is ready.`).waitFor()
  await hand.press(link(page, `Open ${name}`))
  await page.getByRole('heading', { name, level: 1 }).waitFor()
}

export interface Rotation {
  readonly deployment: string
  readonly cutOver: string
  /** Makes the target of the password accept exactly the versions of the password that the rotation now has. */
  updateTarget(): Promise<void>
}

/** A closed button takes no press: while its effects are read, and while the platform waits for containers. */
async function pressOpen({ page, hand }: Newcomer, found: Locator): Promise<void> {
  const open = found.and(page.locator(':not([aria-disabled], [disabled])'))
  await open.waitFor({ timeout: 180_000 })
  await hand.press(open)
}

/** Rotates a password through all phases, with the part of the person where the page asks for it. */
export async function rotatePassword(newcomer: Newcomer, rotation: Rotation): Promise<void> {
  const { page, hand } = newcomer
  await openDeployment(newcomer, rotation.deployment, 'Rotation')
  await hand.press(button(page, /^Stage a new version/))
  await page.getByText(/accept v\d+ in addition to v\d+/).waitFor()
  await pressOpen(newcomer, button(page, /^Overlap:/))
  await button(page, rotation.cutOver).waitFor()
  await newcomer.look?.('rotation')
  await rotation.updateTarget()
  await pressOpen(newcomer, button(page, rotation.cutOver))
  // The button is closed, with the reason beside it, until no deployment can roll back to the old version: each passes its
  // watch window after the one before.
  await pressOpen(newcomer, button(page, /^Retire: destroy v\d+$/))
  await button(page, /^Stage a new version/).waitFor()
  await rotation.updateTarget()
}
