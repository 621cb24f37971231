// `holdfast node release`: releases the tenant's claim on a machine.

import type { OnlineCommand } from '../../command.ts'
import { DRY_RUN_OPTION, printPlanned } from '../../dry-run.ts'
import { EXIT } from '../../exit-codes.ts'
import { NODE_ARGUMENT } from '../../node-command.ts'
import { printFailure } from '../../print/failure.ts'
import { print } from '../../terminal/terminal.ts'

export const nodeRelease: OnlineCommand = {
  name: 'node release',
  summary: 'release the claim on a node, so that another tenant can enroll it',
  details: 'The replicas of the node are moved away first. Requires --tenant <id>.',
  args: [NODE_ARGUMENT],
  options: [DRY_RUN_OPTION],
  examples: [['holdfast node release n1 --tenant 0b7a...', 'Releases n1 once it is drained.']],
  online: true,
  async run({ terminal, args: [typed = ''], flag }, client) {
    const nodeName = typed.replace(/^node\//, '')
    if (flag('dry-run'))
      return printPlanned(
        terminal,
        `node/${nodeName}`,
        'released',
        await client.dryRuns.releaseClaim(nodeName),
      )
    const released = await client.nodes.releaseClaim(nodeName)
    if (!released.ok) return printFailure(terminal, released.failure)
    print(terminal, `node/${released.value.name} being released`)
    return EXIT.ok
  },
}
