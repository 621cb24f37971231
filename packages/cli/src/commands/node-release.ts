// A machine may go to another tenant.

import type { OnlineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { NODE_ARGUMENT } from '../node-command.ts'
import { printFailure } from '../print/failure.ts'
import { print } from '../terminal/terminal.ts'

export const nodeRelease: OnlineCommand = {
  name: 'node release',
  summary: 'give up the claim on a node, so that another tenant may enroll it',
  details: 'What runs there is moved away first. The tenant must be named: --tenant <id>.',
  args: [NODE_ARGUMENT],
  examples: [['holdfast node release n1 --tenant 0b7a...', 'n1 is free once it is drained.']],
  online: true,
  async run({ terminal, args: [typed = ''] }, client) {
    const released = await client.nodes.releaseClaim(typed.replace(/^node\//, ''))
    if (!released.ok) return printFailure(terminal, released.failure)
    print(terminal, `node/${released.value.name} being released`)
    return EXIT.ok
  },
}
