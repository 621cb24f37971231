// `holdfast delete`: deletes deployments, volumes and networks. The platform stops containers first; a volume or network is
// deleted after the deployments of the same call that use it.

import type { Client } from '@holdfast/client'
import type { DocumentKind } from '@holdfast/manifest'
import { deploymentName } from '../args/deployment-argument.ts'
import {
  DEPLOYMENT_KINDS,
  JOB_KINDS,
  LIVE_KINDS,
  NETWORK_KINDS,
  VOLUME_KINDS,
} from '../args/resource-names.ts'
import type { Invocation, OnlineCommand } from '../command.ts'
import { DRY_RUN_OPTION, printPlanned } from '../dry-run.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { waitUntilGone } from '../follow/wait-until-gone.ts'
import { FILENAME_OPTION } from '../manifest/read-sources.ts'
import type { DeletedNetworks } from '../networks/delete-networks.ts'
import { printAnnounced } from '../print/changes.ts'
import { printError, printFailure } from '../print/failure.ts'
import { print, report, type Terminal } from '../terminal/terminal.ts'
import type { DeletedVolumes, Removals } from '../volumes/delete-volumes.ts'
import { waitMs, waitOptions } from './apply.ts'

export const remove: OnlineCommand = {
  name: 'delete',
  aliases: ['rm'],
  summary: 'delete deployments, volumes and networks by name or by manifest',
  details:
    'The command returns before the containers have stopped. --wait waits until they are gone. A volume is deleted with its data, after the deployments of the same call that mount it are gone. Jobs are not deleted: holdfast job cancel stops them, and the platform deletes those that have ended.',
  args: [
    {
      name: 'name',
      summary: 'names of the deployments; volume or network before names of those',
      optional: true,
      many: true,
      completes: ([kind = '']) => LIVE_KINDS[kind] ?? 'deployments',
    },
  ],
  options: [FILENAME_OPTION, DRY_RUN_OPTION, ...waitOptions('they are gone')],
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
    const networks =
      named.networks.length === 0
        ? { deleted: [], exitCode: EXIT.ok }
        : await (await import('../networks/delete-networks.ts')).deleteNetworks(
            terminal,
            client,
            named,
            longestMs,
          )
    const codes = [removed.exitCode, volumes.exitCode, networks.exitCode]
    const exitCode = codes.find((code) => code !== EXIT.ok) ?? EXIT.ok
    if (exitCode !== EXIT.ok || !invocation.flag('wait')) return exitCode
    const gone = await waitUntilGone(terminal, client, named.deployments, longestMs)
    if (gone !== EXIT.ok) return gone
    return waitForOthers(terminal, client, { ...volumes, networks: networks.deleted }, longestMs)
  },
}

async function waitForOthers(
  terminal: Terminal,
  client: Client,
  { deleted, networks }: Pick<DeletedVolumes, 'deleted'> & { readonly networks: DeletedNetworks['deleted'] },
  longestMs: number,
): Promise<ExitCode> {
  if (networks.length > 0) {
    const { waitUntilNetworksGone } = await import('../follow/wait-for-networks.ts')
    const gone = await waitUntilNetworksGone(terminal, client, networks, longestMs)
    if (gone !== EXIT.ok) return gone
  }
  if (deleted.length === 0) return EXIT.ok
  const { waitUntilVolumesGone } = await import('../follow/wait-for-volumes.ts')
  return waitUntilVolumesGone(terminal, client, deleted, longestMs)
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
    if (removed.ok) {
      print(terminal, `deployment/${removed.value.name} deleting`)
      const { warnings = [] } = removed.value
      printAnnounced(terminal, { alterations: [], warnings }, { verbose: false })
    } else {
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
  if (named.networks.length > 0) {
    const { planNetworkRemovals } = await import('../networks/delete-networks.ts')
    const code = await planNetworkRemovals(terminal, client, named)
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
  if (args.some((word) => JOB_KINDS.includes(word.split('/')[0] ?? '') && isKind(word, args))) {
    printError(terminal, 'a job is not deleted; holdfast job cancel ID stops it')
    return EXIT.usage
  }
  const typed = typedNames(args)
  if (texts('filename').length === 0) {
    if (Object.values(typed).some((names) => names.length > 0)) return typed
    printError(terminal, 'no deployment, volume or network given; name one, or use -f <path>')
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
  for (const { value } of ordered.filter((each) => kindOf(each.value) === 'Job'))
    report(terminal, `job/${nameOf(value)} skipped: a name does not identify a job; see holdfast job cancel`)
  const written = (kind: DocumentKind): string[] =>
    ordered.flatMap(({ value }) => (kindOf(value) === kind ? (nameOf(value) ?? []) : []))
  return {
    deployments: [...typed.deployments, ...written('Deployment')],
    volumes: [...typed.volumes, ...written('Volume')],
    networks: [...typed.networks, ...written('Network')],
  }
}

/** Whether a word names a kind: `job/ID`, or the first of several words. */
const isKind = (word: string, args: readonly string[]): boolean =>
  word.includes('/') || (args.length > 1 && word === args[0])

/** Accepts `delete deployment web`, `delete volume data` and, as `-o name` prints it, `delete volume/data`. */
function typedNames(args: readonly string[]): Removals {
  const [first = '', ...others] = args
  const typedKind = others.length > 0 ? kindOfWord(first) : undefined
  const names = typedKind === undefined ? args : others
  const kindOf = (name: string) => typedKind ?? kindOfWord(name.split('/')[0] ?? '', name) ?? 'deployments'
  const found = Object.groupBy(names, kindOf)
  const bare = (name: string): string => name.slice(name.indexOf('/') + 1)
  return {
    deployments: (found.deployments ?? []).map((name) => deploymentName(name)),
    volumes: (found.volumes ?? []).map(bare),
    networks: (found.networks ?? []).map(bare),
  }
}

/** The kind that a word names; `name` is the whole argument if the word is the part before its slash. */
function kindOfWord(word: string, name = `${word}/`): keyof Removals | undefined {
  if (!name.includes('/')) return undefined
  if (DEPLOYMENT_KINDS.includes(word)) return 'deployments'
  if (VOLUME_KINDS.includes(word)) return 'volumes'
  return NETWORK_KINDS.includes(word) ? 'networks' : undefined
}
