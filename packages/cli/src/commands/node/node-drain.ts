// `holdfast node drain`: moves the replicas of a node to other nodes. A replacement starts before the old replica stops.

import type { Client } from '@holdfast/client'
import type { Node } from '@holdfast/contract'
import type { OnlineCommand } from '../../command.ts'
import { DRY_RUN_OPTION } from '../../dry-run.ts'
import { EXIT, type ExitCode } from '../../exit-codes.ts'
import { changeNode, NODE_ARGUMENT } from '../../node-command.ts'
import { printLabeled } from '../../print/changes.ts'
import { count } from '../../print/count.ts'
import { printError, printFailure } from '../../print/failure.ts'
import { plain } from '../../print/plain.ts'
import { pause } from '../../terminal/pause.ts'
import { print, type Terminal } from '../../terminal/terminal.ts'
import { waitMs, waitOptions } from '../apply.ts'

const POLL_MS = 500

export const nodeDrain: OnlineCommand = {
  name: 'node drain',
  aliases: ['drain'],
  summary: 'cordon a node and move its replicas to other nodes',
  args: [NODE_ARGUMENT],
  options: [DRY_RUN_OPTION, ...waitOptions('no replica is left')],
  examples: [
    ['holdfast node drain n1 --dry-run', 'Shows which replicas would move, and where to.'],
    ['holdfast node drain n1 --wait', 'Empties n1 before maintenance.'],
  ],
  online: true,
  async run(invocation, client) {
    const { terminal, args, flag } = invocation
    const exitCode = await changeNode(invocation, client, 'draining', {
      change: ({ id }) => client.nodes.drain(id),
      plan: ({ id }) => client.dryRuns.changeNode(id, 'drain'),
    })
    if (exitCode !== EXIT.ok || flag('dry-run') || !flag('wait')) return exitCode
    const { findNode } = await import('../../resources/find-node.ts')
    const end = terminal.now() + waitMs(invocation)
    const printWaits = createWaitPrinter(terminal)
    for (;;) {
      const node = await findNode(client, (args[0] ?? '').replace(/^node\//, ''))
      if (!node.ok) return printFailure(terminal, node.failure)
      if (node.value.draining !== true) return printOutcome(terminal, node.value)
      printWaits(node.value)
      if (terminal.now() >= end) {
        printError(terminal, await remainingText(client, node.value))
        return EXIT.notReady
      }
      if (!(await pause(POLL_MS, terminal.interrupted))) return EXIT.interrupted
    }
  },
}

/** Prints what a drain waits for, each reason once. */
function createWaitPrinter(terminal: Terminal): (node: Node) => void {
  const printed = new Set<string>()
  return ({ drainBlockedBy = [] }) => {
    for (const reason of drainBlockedBy)
      if (!printed.has(reason)) printLabeled(terminal, 'waits', 'yellow', plain(reason))
    for (const reason of drainBlockedBy) printed.add(reason)
  }
}

/** Which volumes or deployments keep a node from becoming empty, and a remedy or the command that explains why. */
async function remainingText(client: Client, { id, name, drainBlockedBy = [] }: Node): Promise<string> {
  const { replicas } = await import('../../resources/replicas.ts')
  const listed = await replicas.list(client)
  const names = listed.ok
    ? listed.value.filter(({ nodeId }) => nodeId === id).map((each) => each.deployment)
    : []
  const counts = [...Map.groupBy(names, (each) => each)].map(
    ([deployment, all]) => `${count(all.length, 'replica')} of ${deployment}`,
  )
  const [first] = names
  if (drainBlockedBy.length > 0) return `${name} cannot be emptied yet; ${drainBlockedBy.join('; ')}`
  if (first === undefined) return `${name} is not empty yet; see holdfast describe node ${name}`
  return `${name} still runs ${counts.join(', ')}; see holdfast why ${first}`
}

/** Prints the outcome of a drain. A drained node stays cordoned, so a schedulable node was uncordoned by another user. */
function printOutcome(terminal: Terminal, { name, schedulable }: Node): ExitCode {
  if (!schedulable) {
    print(terminal, `node/${name} drained`)
    return EXIT.ok
  }
  printError(
    terminal,
    `${name} was uncordoned by someone else, so it is not drained; run holdfast node drain ${name} again`,
  )
  return EXIT.conflict
}
