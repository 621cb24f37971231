// `holdfast node uncordon`: makes a node available for placement again.

import type { OnlineCommand } from '../../command.ts'
import { DRY_RUN_OPTION } from '../../dry-run.ts'
import { changeNode, NODE_ARGUMENT } from '../../node-command.ts'

export const nodeUncordon: OnlineCommand = {
  name: 'node uncordon',
  aliases: ['uncordon'],
  summary: 'make a node available for placement again',
  args: [NODE_ARGUMENT],
  options: [DRY_RUN_OPTION],
  examples: [['holdfast node uncordon n1', 'Makes n1 a candidate again.']],
  online: true,
  run: (invocation, client) =>
    changeNode(invocation, client, 'uncordoned', {
      change: ({ id }) => client.nodes.uncordon(id),
      plan: ({ id }) => client.dryRuns.changeNode(id, 'uncordon'),
    }),
}
