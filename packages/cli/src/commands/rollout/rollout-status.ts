// `holdfast rollout status`: follows an update until it succeeds or fails.

import { DEPLOYMENT_ARGUMENT, deploymentName } from '../../args/deployment-argument.ts'
import { DURATION } from '../../args/forms.ts'
import type { OnlineCommand } from '../../command.ts'
import { waitMs } from '../apply.ts'

export const rolloutStatus: OnlineCommand = {
  name: 'rollout status',
  summary: 'follow a deployment until it is ready',
  details:
    'Exits with 4 if it does not become ready: no node fits, the revision failed, or it timed out. The output then names the cause, the last log lines and the next command.',
  args: [DEPLOYMENT_ARGUMENT],
  options: [{ flags: '--wait-timeout <duration>', summary: 'timeout (default: 5m)', form: DURATION }],
  examples: [['holdfast rollout status web', 'Shows each replica as it becomes ready.']],
  online: true,
  async run(invocation, client) {
    const { waitUntilReady } = await import('../../follow/wait-until-ready.ts')
    const name = deploymentName(invocation.args[0])
    return waitUntilReady(invocation.terminal, client, [{ name }], waitMs(invocation))
  },
}
