// A node takes new work again.

import type { OnlineCommand } from '../command.ts'
import { changeNode, NODE_ARGUMENT } from '../node-command.ts'

export const nodeUncordon: OnlineCommand = {
  name: 'node uncordon',
  summary: 'let a node take new work again',
  args: [NODE_ARGUMENT],
  examples: [['holdfast node uncordon n1', 'n1 is a candidate again.']],
  online: true,
  run: (invocation, client) =>
    changeNode(invocation, client, 'uncordoned', ({ id }) => client.nodes.uncordon(id)),
}
