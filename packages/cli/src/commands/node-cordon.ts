// A node takes no new work.

import type { OnlineCommand } from '../command.ts'
import { changeNode, NODE_ARGUMENT } from '../node-command.ts'

export const nodeCordon: OnlineCommand = {
  name: 'node cordon',
  summary: 'let a node take no new work; what runs there stays',
  args: [NODE_ARGUMENT],
  examples: [['holdfast node cordon n1', 'Nothing new goes to n1.']],
  online: true,
  run: (invocation, client) =>
    changeNode(invocation, client, 'cordoned', ({ id }) => client.nodes.cordon(id)),
}
