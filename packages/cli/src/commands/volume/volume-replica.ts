// `holdfast volume replica add` and `remove`: chooses the nodes that hold copies of a volume.

import type { Client, Result } from '@holdfast/client'
import type { Rejection, Volume } from '@holdfast/contract'
import type { ArgumentSpec, Invocation, OnlineCommand } from '../../command.ts'
import { DRY_RUN_OPTION } from '../../dry-run.ts'
import type { ExitCode } from '../../exit-codes.ts'
import { count } from '../../print/count.ts'
import { printFailure } from '../../print/failure.ts'
import { changeVolume, VOLUME_ARGUMENT, VOLUME_OUTPUT, type VolumeChange } from '../../volume-command.ts'

const NODE: ArgumentSpec = { name: 'node', summary: 'name or id of the node', completes: 'nodes' }

export const volumeReplicaAdd: OnlineCommand = {
  name: 'volume replica add',
  summary: 'add a copy of a replicated volume on a node',
  details: 'The number of replicas rises by one. The copy gets all data before it can become the primary.',
  args: [VOLUME_ARGUMENT, NODE],
  options: [DRY_RUN_OPTION, VOLUME_OUTPUT],
  examples: [['holdfast volume replica add data n2', 'Stores a copy of the volume on n2, too.']],
  online: true,
  run: (invocation, client) =>
    changeCopies(invocation, client, (node) => ({
      outcome: (_, { replicas }) => `gets a copy on ${node.name}; ${countText(replicas)}`,
      planned: `copied to ${node.name}`,
      change: async ({ id }) => withNodeName(await client.volumes.addReplica(id, node.id), node),
      plan: async ({ id }) => withNodeName(await client.volumes.dryRuns.addReplica(id, node.id), node),
    })),
}

export const volumeReplicaRemove: OnlineCommand = {
  name: 'volume replica remove',
  summary: 'remove the copy of a volume on a node',
  details: 'The number of replicas falls by one. The primary cannot be removed this way.',
  args: [VOLUME_ARGUMENT, NODE],
  options: [DRY_RUN_OPTION, VOLUME_OUTPUT],
  examples: [['holdfast volume replica remove data n2', 'Deletes the copy on n2 and keeps the others.']],
  online: true,
  run: (invocation, client) =>
    changeCopies(invocation, client, (node) => ({
      outcome: (_, { replicas }) => `loses its copy on ${node.name}; ${countText(replicas)}`,
      planned: `without its copy on ${node.name}`,
      change: async (volume) =>
        withCause(await client.volumes.removeReplica(volume.id, node.id), volume, node),
      plan: async (volume) =>
        withCause(await client.volumes.dryRuns.removeReplica(volume.id, node.id), volume, node),
    })),
}

const countText = (replicas: Volume['replicas']): string => `it has ${count(replicas, 'replica')} now`

/** A rejection with the name of the node, as it was typed, instead of its id. */
const withNodeName = <T>(result: Result<T>, { id, name }: ChosenNode): Result<T> =>
  changeRejections(result, (each) => (each.received === id ? { ...each, received: name } : each))

/** The platform answers for a node without a copy as for an unknown one, and the primary is no such copy. */
function withCause<T>(result: Result<T>, { name, primary, copies }: Volume, node: ChosenNode): Result<T> {
  const replicas = copies.filter(({ role }) => role === 'replica').map(({ nodeName }) => nodeName)
  const why =
    primary?.nodeId === node.id
      ? `${node.name} holds the primary of ${name}, which cannot be removed; holdfast node drain ${node.name} moves it.`
      : `${node.name} holds no copy of ${name}.`
  const expected = replicas.length === 0 ? `no node: ${name} has no replica` : replicas.join(' or ')
  return changeRejections(withNodeName(result, node), (each) =>
    each.code === 'node_not_found' ? { ...each, expected, why } : each,
  )
}

function changeRejections<T>(result: Result<T>, change: (each: Rejection) => Rejection): Result<T> {
  if (result.ok || result.failure.kind !== 'rejected') return result
  return { ok: false, failure: { ...result.failure, rejections: result.failure.rejections.map(change) } }
}

interface ChosenNode {
  readonly id: string
  readonly name: string
}

async function changeCopies(
  invocation: Invocation,
  client: Client,
  change: (node: ChosenNode) => VolumeChange,
): Promise<ExitCode> {
  const { findNode } = await import('../../resources/find-node.ts')
  const typed = (invocation.args[1] ?? '').replace(/^node\//, '')
  const node = await findNode(client, typed)
  if (!node.ok) return printFailure(invocation.terminal, node.failure)
  return changeVolume(invocation, client, change(node.value))
}
