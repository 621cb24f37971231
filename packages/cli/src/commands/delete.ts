// `holdfast delete`: deletes deployments and volumes. The platform stops containers first; a volume is deleted after the
// deployments of the same call that mount it.

import type { Client } from '@holdfast/client'
import { deploymentName } from '../args/deployment-argument.ts'
import { DEPLOYMENT_KINDS, LIVE_KINDS, VOLUME_KINDS } from '../args/resource-names.ts'
import type { Invocation, OnlineCommand } from '../command.ts'
import { DRY_RUN_OPTION, printPlanned } from '../dry-run.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { waitUntilGone } from '../follow/wait-until-gone.ts'
import { FILENAME_OPTION } from '../manifest/read-sources.ts'
import { printError, printFailure } from '../print/failure.ts'
import { print, type Terminal } from '../terminal/terminal.ts'
import type { Removals } from '../volumes/delete-volumes.ts'
import { waitMs, waitOptions } from './apply.ts'

export const remove: OnlineCommand = {
  name: 'delete',
  aliases: ['rm'],
  summary: 'delete deployments and volumes by name or by manifest',
  details:
    'The command returns before the containers have stopped. --wait waits until they are gone. A volume is deleted with its data, after the deployments of the same call that mount it are gone.',
  args: [
    {
      name: 'name',
      summary: 'names of the deployments; volume before names of volumes',
      optional: true,
      many: true,
      completes: ([kind = '']) => LIVE_KINDS[kind] ?? 'deployments',
    },
  ],
  options: [FILENAME_OPTION, DRY_RUN_OPTION, ...waitOptions('the deployments and volumes are gone')],
  examples: [
    ['holdfast delete web', 'Deletes one deployment.'],
    ['holdfast delete volume data', 'Deletes a volume and its data.'],
    [
      'holdfast delete -f manifests/ --wait',
      'Deletes the deployments and volumes of a folder and waits until they are gone.',
    ],
  ],
  online: true,
  async run(invocation, client) {
    const { terminal } = invocation
    const named = await namesOf(invocation)
    if (typeof named === 'number') return named
    if (invocation.flag('dry-run')) return planRemovals(terminal, client, named)
    const removed = await removeDeployments(terminal, client, named.deployments)
    if (removed.isOver) return removed.exitCode
    const longestMs = waitMs(invocation)
    const volumes =
      named.volumes.length === 0
        ? { deleted: [], exitCode: EXIT.ok }
        : await (await import('../volumes/delete-volumes.ts')).deleteVolumes(
            terminal,
            client,
            named,
            longestMs,
          )
    const exitCode = removed.exitCode === EXIT.ok ? volumes.exitCode : removed.exitCode
    if (exitCode !== EXIT.ok || !invocation.flag('wait')) return exitCode
    const gone = await waitUntilGone(terminal, client, named.deployments, longestMs)
    if (gone !== EXIT.ok || volumes.deleted.length === 0) return gone
    const { waitUntilVolumesGone } = await import('../follow/wait-for-volumes.ts')
    return waitUntilVolumesGone(terminal, client, volumes.deleted, longestMs)
  },
}

/** Deletes deployments. `isOver`: the platform does not answer, so nothing else is tried. */
async function removeDeployments(
  terminal: Terminal,
  client: Client,
  names: readonly string[],
): Promise<{ readonly exitCode: ExitCode; readonly isOver: boolean }> {
  let exitCode: ExitCode = EXIT.ok
  for (const name of names) {
    const removed = await client.deployments.remove(name)
    if (removed.ok) print(terminal, `deployment/${removed.value.name} deleting`)
    else {
      const code = printFailure(terminal, removed.failure)
      exitCode = exitCode === EXIT.ok ? code : exitCode
      if (removed.failure.kind !== 'rejected') return { exitCode: code, isOver: true }
    }
  }
  return { exitCode, isOver: false }
}

/** Each deletion is planned alone, as if the other deployments stayed. */
async function planRemovals(terminal: Terminal, client: Client, named: Removals): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.ok
  for (const name of named.deployments) {
    const planned = await client.dryRuns.remove(name)
    const code = printPlanned(terminal, `deployment/${name}`, 'deleted', planned, name)
    exitCode = exitCode === EXIT.ok ? code : exitCode
  }
  if (named.volumes.length === 0) return exitCode
  const { planVolumeRemovals } = await import('../volumes/delete-volumes.ts')
  const code = await planVolumeRemovals(terminal, client, named)
  return exitCode === EXIT.ok ? code : exitCode
}

/** The names to delete, typed and of manifests. A deployment comes before the deployments that it depends on. */
async function namesOf(invocation: Invocation): Promise<Removals | ExitCode> {
  const { texts, terminal, args } = invocation
  const typed = typedNames(args)
  if (texts('filename').length === 0) {
    if (typed.deployments.length + typed.volumes.length > 0) return typed
    printError(terminal, 'no deployment or volume given; name one, or use -f <path>')
    return EXIT.usage
  }
  const [{ loadManifests, nameOf }, { orderDocuments }, { kindOf }] = await Promise.all([
    import('../manifest/load-manifests.ts'),
    import('../manifest/order.ts'),
    import('@holdfast/manifest'),
  ])
  const loaded = await loadManifests(invocation)
  if (!loaded.ok) return loaded.exitCode
  const ordered = orderDocuments(loaded.manifests).reverse()
  const written = (isVolume: boolean): string[] =>
    ordered.flatMap(({ value }) => ((kindOf(value) === 'Volume') === isVolume ? (nameOf(value) ?? []) : []))
  return {
    deployments: [...typed.deployments, ...written(false)],
    volumes: [...typed.volumes, ...written(true)],
  }
}

/** Accepts `delete deployment web`, `delete volume data` and, as `-o name` prints it, `delete volume/data`. */
function typedNames(args: readonly string[]): Removals {
  const [first = '', ...others] = args
  const isKind = others.length > 0 && (DEPLOYMENT_KINDS.includes(first) || VOLUME_KINDS.includes(first))
  const names = isKind ? others : args
  const areVolumes = isKind && VOLUME_KINDS.includes(first)
  const isVolume = (name: string): boolean =>
    areVolumes || VOLUME_KINDS.some((kind) => name.startsWith(`${kind}/`))
  const { volumes = [], deployments = [] } = Object.groupBy(names, (name) =>
    isVolume(name) ? 'volumes' : 'deployments',
  )
  return {
    deployments: deployments.map((name) => deploymentName(name)),
    volumes: volumes.map((name) => name.slice(name.indexOf('/') + 1)),
  }
}
