// `holdfast node cordon`: excludes a node from placement.

import type { OnlineCommand } from '../../command.ts'
import { DRY_RUN_OPTION } from '../../dry-run.ts'
import { changeNode, NODE_ARGUMENT } from '../../node-command.ts'

export const nodeCordon: OnlineCommand = {
  name: 'node cordon',
  aliases: ['cordon'],
  summary: 'exclude a node from placement; its replicas keep running',
  args: [NODE_ARGUMENT],
  options: [DRY_RUN_OPTION],
  examples: [['holdfast node cordon n1', 'Places no new replicas on n1.']],
  online: true,
  run: (invocation, client) =>
    changeNode(invocation, client, 'cordoned', {
      change: ({ id }) => client.nodes.cordon(id),
      plan: ({ id }) => client.dryRuns.changeNode(id, 'cordon'),
    }),
}
