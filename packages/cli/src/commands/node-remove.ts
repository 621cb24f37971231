// A node goes.

import type { OnlineCommand } from '../command.ts'
import { changeNode, NODE_ARGUMENT } from '../node-command.ts'

export const nodeRemove: OnlineCommand = {
  name: 'node remove',
  summary: 'remove a node once nothing of the tenant runs there',
  args: [NODE_ARGUMENT],
  options: [{ flags: '--force', summary: 'at once: for a machine that is dead or was broken into' }],
  examples: [
    ['holdfast node remove n1', 'Its replicas are replaced first.'],
    ['holdfast node remove n1 --force', 'It does not come back.'],
  ],
  online: true,
  run: (invocation, client) =>
    changeNode(invocation, client, 'being removed', ({ id }) =>
      client.nodes.remove(id, { force: invocation.flag('force') }),
    ),
}
