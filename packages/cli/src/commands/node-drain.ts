// What runs on a node is moved away, successor first.

import type { Node } from '@holdfast/contract'
import type { OnlineCommand } from '../command.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { changeNode, NODE_ARGUMENT } from '../node-command.ts'
import { printError, printFailure } from '../print/failure.ts'
import { pause } from '../terminal/pause.ts'
import { print, type Terminal } from '../terminal/terminal.ts'
import { waitMs, waitOptions } from './apply.ts'

const POLL_MS = 500

export const nodeDrain: OnlineCommand = {
  name: 'node drain',
  summary: 'move what runs on a node to others, and let it take no new work',
  args: [NODE_ARGUMENT],
  options: waitOptions('nothing is left'),
  examples: [['holdfast node drain n1 --wait', 'Before n1 is switched off.']],
  online: true,
  async run(invocation, client) {
    const { terminal, args, flag } = invocation
    const exitCode = await changeNode(invocation, client, 'draining', ({ id }) => client.nodes.drain(id))
    if (exitCode !== EXIT.ok || !flag('wait')) return exitCode
    const { findNode } = await import('../resources/find-node.ts')
    const end = terminal.now() + waitMs(invocation)
    for (;;) {
      const node = await findNode(client, (args[0] ?? '').replace(/^node\//, ''))
      if (!node.ok) return printFailure(terminal, node.failure)
      if (node.value.draining !== true) return printOver(terminal, node.value)
      if (terminal.now() >= end) {
        printError(
          terminal,
          `${node.value.name} still runs something: holdfast get deployments, holdfast events`,
        )
        return EXIT.notReady
      }
      if (!(await pause(POLL_MS, terminal.interrupted))) return EXIT.interrupted
    }
  },
}

/** Emptied, it stays closed. One that takes work again was opened by somebody, and is not empty. */
function printOver(terminal: Terminal, { name, schedulable }: Node): ExitCode {
  if (!schedulable) {
    print(terminal, `node/${name} drained`)
    return EXIT.ok
  }
  printError(
    terminal,
    `somebody opened ${name} to new work again: it is not drained; holdfast node drain ${name} begins anew`,
  )
  return EXIT.conflict
}
