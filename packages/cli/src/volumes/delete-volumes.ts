// Deletes volumes, each after the deployments of the same call that mount it. The platform keeps a volume that is mounted.

import type { Client } from '@holdfast/client'
import type { Volume } from '@holdfast/contract'
import { printPlanned } from '../dry-run.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { waitUntilGone } from '../follow/wait-until-gone.ts'
import { printError, printFailure } from '../print/failure.ts'
import { findVolume } from '../resources/find-volume.ts'
import { print, report, type Terminal } from '../terminal/terminal.ts'

/** The names to delete: each deployment before those that it depends on, and deployments before volumes and networks. */
export interface Removals {
  readonly deployments: readonly string[]
  readonly volumes: readonly string[]
  readonly networks: readonly string[]
}

export interface DeletedVolumes {
  readonly deleted: readonly Volume[]
  readonly exitCode: ExitCode
}

export async function deleteVolumes(
  terminal: Terminal,
  client: Client,
  { deployments, volumes }: Pick<Removals, 'deployments' | 'volumes'>,
  longestMs: number,
): Promise<DeletedVolumes> {
  const end = terminal.now() + longestMs
  const deleted: Volume[] = []
  let exitCode: ExitCode = EXIT.ok
  for (const name of volumes) {
    const found = await findVolume(client, name)
    const waited = found.ok
      ? await waitForConsumers(terminal, client, leavingOf(found.value, deployments), end - terminal.now())
      : EXIT.ok
    if (waited !== EXIT.ok) {
      if (waited === EXIT.notReady)
        printError(terminal, `volume ${name} was not deleted; run the command again`)
      return { deleted, exitCode: waited }
    }
    const removed = found.ok ? await client.volumes.remove(found.value.id) : found
    if (removed.ok) {
      deleted.push(removed.value)
      print(terminal, `volume/${removed.value.name} deleting`)
      continue
    }
    const code = printFailure(terminal, removed.failure)
    exitCode = exitCode === EXIT.ok ? code : exitCode
    if (removed.failure.kind !== 'rejected') return { deleted, exitCode }
  }
  return { deleted, exitCode }
}

/** The deployments of this call that mount a volume. */
const leavingOf = ({ consumers }: Volume, deployments: readonly string[]): string[] =>
  consumers.filter((consumer) => deployments.includes(consumer))

async function waitForConsumers(
  terminal: Terminal,
  client: Client,
  consumers: readonly string[],
  longestMs: number,
): Promise<ExitCode> {
  if (consumers.length === 0) return EXIT.ok
  report(terminal, `waiting until ${consumers.join(', ')} ${consumers.length === 1 ? 'is' : 'are'} gone`)
  // With --wait, stdout names each deleted deployment once, at the end.
  return waitUntilGone({ ...terminal, out: () => {} }, client, consumers, longestMs)
}

/** Plans deletions. A volume that only deployments of the same call mount is planned as if they were gone. */
export async function planVolumeRemovals(
  terminal: Terminal,
  client: Client,
  { deployments, volumes }: Pick<Removals, 'deployments' | 'volumes'>,
): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.ok
  for (const name of volumes) {
    const found = await findVolume(client, name)
    const code = found.ok
      ? await planRemoval(terminal, client, found.value, deployments)
      : printFailure(terminal, found.failure)
    exitCode = exitCode === EXIT.ok ? code : exitCode
  }
  return exitCode
}

async function planRemoval(
  terminal: Terminal,
  client: Client,
  volume: Volume,
  deployments: readonly string[],
): Promise<ExitCode> {
  const { id, name, consumers } = volume
  const leaving = leavingOf(volume, deployments)
  if (leaving.length > 0 && leaving.length === consumers.length) {
    print(terminal, `volume/${name} would be deleted after ${leaving.join(', ')}`)
    print(terminal, '  Effects: 1 volume loses its data.')
    return EXIT.ok
  }
  return printPlanned(terminal, `volume/${name}`, 'deleted', await client.volumes.dryRuns.remove(id))
}
