// `holdfast volume replica add` and `remove`: chooses the nodes that hold copies of a volume.

import type { Client } from '@holdfast/client'
import type { Volume } from '@holdfast/contract'
import type { ArgumentSpec, Invocation, OnlineCommand } from '../../command.ts'
import { DRY_RUN_OPTION } from '../../dry-run.ts'
import type { ExitCode } from '../../exit-codes.ts'
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
      change: ({ id }) => client.volumes.addReplica(id, node.id),
      plan: ({ id }) => client.volumes.dryRuns.addReplica(id, node.id),
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
      change: ({ id }) => client.volumes.removeReplica(id, node.id),
      plan: ({ id }) => client.volumes.dryRuns.removeReplica(id, node.id),
    })),
}

const countText = (replicas: Volume['replicas']): string =>
  `it has ${replicas} ${replicas === 1 ? 'replica' : 'replicas'} now`

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
