// `holdfast node remove`: removes a node from the tenant.

import type { OnlineCommand } from '../../command.ts'
import { DRY_RUN_OPTION } from '../../dry-run.ts'
import { changeNode, NODE_ARGUMENT } from '../../node-command.ts'

export const nodeRemove: OnlineCommand = {
  name: 'node remove',
  summary: 'remove a node once no replica of the tenant runs there',
  args: [NODE_ARGUMENT],
  options: [
    { flags: '--force', summary: 'remove immediately, for a dead or compromised machine' },
    DRY_RUN_OPTION,
  ],
  examples: [
    ['holdfast node remove n1', 'Replaces its replicas, then removes it.'],
    ['holdfast node remove n1 --force', 'Removes a machine that will not come back.'],
  ],
  online: true,
  run: (invocation, client) =>
    changeNode(invocation, client, 'being removed', {
      change: ({ id }) => client.nodes.remove(id, { force: invocation.flag('force') }),
      plan: ({ id }) => client.dryRuns.removeNode(id, { force: invocation.flag('force') }),
    }),
}
