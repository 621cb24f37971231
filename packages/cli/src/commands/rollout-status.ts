// How an update goes, until it is through or will not be.

import { DEPLOYMENT_ARGUMENT, deploymentName } from '../args/deployment-argument.ts'
import { DURATION } from '../args/forms.ts'
import type { OnlineCommand } from '../command.ts'
import { waitMs } from './apply.ts'

export const rolloutStatus: OnlineCommand = {
  name: 'rollout status',
  summary: 'follow a deployment until it runs as it was asked to',
  details: 'Exit code 4 when it does not come to that: no node, rolled back, paused, or not in time.',
  args: [DEPLOYMENT_ARGUMENT],
  options: [{ flags: '--wait-timeout <duration>', summary: 'how long (default: 5m)', form: DURATION }],
  examples: [['holdfast rollout status web', 'Shows each replica as it becomes ready.']],
  online: true,
  async run(invocation, client) {
    const { waitUntilReady } = await import('../follow/wait-until-ready.ts')
    const name = deploymentName(invocation.args[0])
    return waitUntilReady(invocation.terminal, client, [{ name }], waitMs(invocation))
  },
}
