// Deletes networks, each after the deployments of the same call that are attached to it.

import type { Client } from '@holdfast/client'
import type { Network } from '@holdfast/contract'
import { printPlanned } from '../dry-run.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { waitUntilGone } from '../follow/wait-until-gone.ts'
import { printError, printFailure } from '../print/failure.ts'
import { findNetwork } from '../resources/find-network.ts'
import { print, report, type Terminal } from '../terminal/terminal.ts'

interface NetworkRemovals {
  readonly deployments: readonly string[]
  readonly networks: readonly string[]
}

export interface DeletedNetworks {
  readonly deleted: readonly Network[]
  readonly exitCode: ExitCode
}

export async function deleteNetworks(
  terminal: Terminal,
  client: Client,
  { deployments, networks }: NetworkRemovals,
  longestMs: number,
): Promise<DeletedNetworks> {
  const end = terminal.now() + longestMs
  const deleted: Network[] = []
  let exitCode: ExitCode = EXIT.ok
  for (const name of networks) {
    const found = await findNetwork(client, name)
    const leaving = found.ok ? leavingOf(found.value, deployments) : []
    const waited = await waitForLeaving(terminal, client, leaving, end - terminal.now())
    if (waited !== EXIT.ok) {
      if (waited === EXIT.notReady)
        printError(terminal, `network ${name} was not deleted; run the command again`)
      return { deleted, exitCode: waited }
    }
    const removed = found.ok ? await client.networks.remove(found.value.id) : found
    if (removed.ok) {
      deleted.push(removed.value)
      print(terminal, `network/${removed.value.name} deleting`)
      continue
    }
    const code = printFailure(terminal, removed.failure)
    exitCode = exitCode === EXIT.ok ? code : exitCode
    if (removed.failure.kind !== 'rejected') return { deleted, exitCode }
  }
  return { deleted, exitCode }
}

/** The deployments of this call that are attached to the network. */
const leavingOf = ({ attached }: Network, deployments: readonly string[]): string[] =>
  attached.filter((name) => deployments.includes(name))

async function waitForLeaving(
  terminal: Terminal,
  client: Client,
  leaving: readonly string[],
  longestMs: number,
): Promise<ExitCode> {
  if (leaving.length === 0) return EXIT.ok
  report(terminal, `waiting until ${leaving.join(', ')} ${leaving.length === 1 ? 'is' : 'are'} gone`)
  // With --wait, stdout names each deleted deployment once, at the end.
  return waitUntilGone({ ...terminal, out: () => {} }, client, leaving, longestMs)
}

/** Plans deletions. A network that only deployments of the same call use is planned as if they were gone. */
export async function planNetworkRemovals(
  terminal: Terminal,
  client: Client,
  { deployments, networks }: NetworkRemovals,
): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.ok
  for (const name of networks) {
    const found = await findNetwork(client, name)
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
  network: Network,
  deployments: readonly string[],
): Promise<ExitCode> {
  const { id, name, attached } = network
  const leaving = leavingOf(network, deployments)
  if (leaving.length > 0 && leaving.length === attached.length) {
    print(terminal, `network/${name} would be deleted after ${leaving.join(', ')}`)
    return EXIT.ok
  }
  return printPlanned(terminal, `network/${name}`, 'deleted', await client.networks.dryRuns.remove(id))
}
