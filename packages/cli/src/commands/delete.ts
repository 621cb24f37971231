// `holdfast delete`: deletes deployments. The platform stops their containers first.

import type { Client } from '@holdfast/client'
import { deploymentName } from '../args/deployment-argument.ts'
import { DEPLOYMENT_KINDS } from '../args/resource-names.ts'
import type { Invocation, OnlineCommand } from '../command.ts'
import { DRY_RUN_OPTION, printPlanned } from '../dry-run.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { FILENAME_OPTION } from '../manifest/read-sources.ts'
import { printError, printFailure } from '../print/failure.ts'
import { pause } from '../terminal/pause.ts'
import { print, type Terminal } from '../terminal/terminal.ts'
import { waitMs, waitOptions } from './apply.ts'

export const remove: OnlineCommand = {
  name: 'delete',
  aliases: ['rm'],
  summary: 'delete deployments by name or by manifest',
  details: 'The command returns before the containers have stopped. --wait waits until they are gone.',
  args: [
    {
      name: 'name',
      summary: 'names of the deployments',
      optional: true,
      many: true,
      completes: 'deployments',
    },
  ],
  options: [FILENAME_OPTION, DRY_RUN_OPTION, ...waitOptions('the deployments are gone')],
  examples: [
    ['holdfast delete web', 'Deletes one deployment.'],
    [
      'holdfast delete -f manifests/ --wait',
      'Deletes the deployments of a folder and waits until they are gone.',
    ],
  ],
  online: true,
  async run(invocation, client) {
    const { terminal } = invocation
    const named = await namesOf(invocation)
    if (typeof named === 'number') return named
    if (invocation.flag('dry-run')) return planRemovals(terminal, client, named)
    let exitCode: ExitCode = EXIT.ok
    for (const name of named) {
      const removed = await client.deployments.remove(name)
      if (removed.ok) print(terminal, `deployment/${removed.value.name} deleting`)
      else {
        const code = printFailure(terminal, removed.failure)
        exitCode = exitCode === EXIT.ok ? code : exitCode
        if (removed.failure.kind !== 'rejected') return code
      }
    }
    if (exitCode !== EXIT.ok || !invocation.flag('wait')) return exitCode
    return waitUntilGone(terminal, client, named, waitMs(invocation))
  },
}

/** Each deletion is planned alone, as if the other deployments stayed. */
async function planRemovals(terminal: Terminal, client: Client, names: readonly string[]): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.ok
  for (const name of names) {
    const planned = await client.dryRuns.remove(name)
    const code = printPlanned(terminal, `deployment/${name}`, 'deleted', planned, name)
    exitCode = exitCode === EXIT.ok ? code : exitCode
  }
  return exitCode
}

/** The names of the deployments to delete. A deployment comes before the deployments that it depends on. */
async function namesOf(invocation: Invocation): Promise<readonly string[] | ExitCode> {
  const { args, texts, terminal } = invocation
  const typed = withoutKind(args).map((name) => deploymentName(name))
  if (texts('filename').length === 0) {
    if (typed.length > 0) return typed
    printError(terminal, 'no deployment given; name one, or use -f <path>')
    return EXIT.usage
  }
  const [{ loadManifests, nameOf }, { orderDocuments }] = await Promise.all([
    import('../manifest/load-manifests.ts'),
    import('../manifest/order.ts'),
  ])
  const loaded = await loadManifests(invocation)
  if (!loaded.ok) return loaded.exitCode
  const written = orderDocuments(loaded.manifests).flatMap(({ value }) => nameOf(value) ?? [])
  return [...typed, ...written.reverse()]
}

/** Accepts `delete deployment web`, as in kubectl: the kind is dropped if a name follows it. */
const withoutKind = ([first = '', ...others]: readonly string[]): readonly string[] =>
  others.length > 0 && DEPLOYMENT_KINDS.includes(first) ? others : first === '' ? [] : [first, ...others]

const POLL_MS = 500

async function waitUntilGone(
  terminal: Terminal,
  client: Client,
  names: readonly string[],
  longestMs: number,
): Promise<ExitCode> {
  const end = terminal.now() + longestMs
  for (const name of names) {
    for (;;) {
      const read = await client.deployments.read(name)
      if (!read.ok && read.failure.kind === 'rejected' && read.failure.status === 404) break
      if (!read.ok) return printFailure(terminal, read.failure)
      if (terminal.now() >= end) {
        printError(terminal, `${name} is still being deleted`)
        return EXIT.notReady
      }
      if (!(await pause(POLL_MS, terminal.interrupted))) return EXIT.interrupted
    }
    print(terminal, `deployment/${name} deleted`)
  }
  return EXIT.ok
}
