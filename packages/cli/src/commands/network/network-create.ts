// `holdfast network create`: creates a network on one node.

import type { Client, SentNetwork } from '@holdfast/client'
import { defined } from '@holdfast/contract'
import type { Invocation, OnlineCommand } from '../../command.ts'
import { DRY_RUN_OPTION } from '../../dry-run.ts'
import { EXIT, type ExitCode } from '../../exit-codes.ts'
import { printAnnounced } from '../../print/changes.ts'
import { printError, printFailure } from '../../print/failure.ts'
import { print } from '../../terminal/terminal.ts'
import { waitMs, waitOptions } from '../apply.ts'

export const networkCreate: OnlineCommand = {
  name: 'network create',
  summary: 'create a network, which connects chosen deployments and no others',
  details:
    'A network exists on one node, and deployments that name it in networks run there. --node may be left out if only one node accepts work.',
  args: [{ name: 'name', summary: 'name of the network, unique in the tenant' }],
  options: [
    { flags: '--node <node>', summary: 'name or id of the node of the network' },
    { flags: '--internal', summary: 'give the network no way out' },
    { flags: '--label <key=value>', summary: 'label of your own; repeatable', many: true },
    DRY_RUN_OPTION,
    ...waitOptions('the network is Ready'),
  ],
  examples: [
    [
      'holdfast network create backend --node n1 --internal --wait',
      'Creates a network without a way out on the node n1.',
    ],
    ['holdfast network create backend --dry-run', 'Shows on which node the network would be.'],
  ],
  online: true,
  async run(invocation, client) {
    const { terminal, flag } = invocation
    const body = await bodyOf(invocation, client)
    if (typeof body === 'number') return body
    if (flag('dry-run')) return planNetwork(invocation, client, body)
    const created = await client.networks.create(body)
    if (!created.ok) return printFailure(terminal, created.failure)
    const { network } = created.value
    printAnnounced(terminal, created.value, { verbose: flag('verbose') })
    print(terminal, `network/${network.name} created`)
    if (!flag('wait')) return EXIT.ok
    const { waitForNetwork } = await import('../../follow/wait-for-networks.ts')
    return waitForNetwork(terminal, client, network, { longestMs: waitMs(invocation), announce: true })
  },
}

async function planNetwork(
  { terminal, flag }: Invocation,
  client: Client,
  body: SentNetwork,
): Promise<ExitCode> {
  const planned = await client.networks.dryRuns.create(body)
  if (!planned.ok) return printFailure(terminal, planned.failure)
  const { network } = planned.value.plan.result
  print(terminal, `network/${network.name} would be created on ${network.nodeName}`)
  printAnnounced(terminal, planned.value, { verbose: flag('verbose') })
  return EXIT.ok
}

/** The request for a network, or an exit code after the problem was printed. */
async function bodyOf(invocation: Invocation, client: Client): Promise<SentNetwork | ExitCode> {
  const { terminal, args, flag, texts } = invocation
  const labels = texts('label').map((label) => label.split(/=(.*)/s))
  if (labels.some(({ length }) => length < 2)) {
    printError(terminal, 'a label needs a value: --label key=value')
    return EXIT.usage
  }
  const nodeId = await nodeIdOf(invocation, client)
  if (typeof nodeId === 'number') return nodeId
  return defined({
    name: args[0] ?? '',
    driver: 'bridge',
    labels: Object.fromEntries(labels.map(([key = '', value = '']) => [key, value])),
    internal: flag('internal'),
    nodeId,
  })
}

async function nodeIdOf(
  { terminal, text }: Invocation,
  client: Client,
): Promise<string | undefined | ExitCode> {
  const typed = text('node')
  if (typed === undefined) return undefined
  const { findNode } = await import('../../resources/find-node.ts')
  const found = await findNode(client, typed.replace(/^node\//, ''))
  return found.ok ? found.value.id : printFailure(terminal, found.failure)
}
