// Every replica is made anew; what is stored stays.

import { DEPLOYMENT_ARGUMENT, deploymentName } from '../args/deployment-argument.ts'
import type { OnlineCommand } from '../command.ts'
import { followWritten } from '../follow/follow-written.ts'
import { printFailure } from '../print/failure.ts'
import { print } from '../terminal/terminal.ts'
import { waitOptions } from './apply.ts'

export const rolloutRestart: OnlineCommand = {
  name: 'rollout restart',
  summary: 'make every replica of a deployment anew, as an update would',
  args: [DEPLOYMENT_ARGUMENT],
  options: waitOptions(),
  examples: [['holdfast rollout restart web --wait', 'One after the other, as its update settings say.']],
  online: true,
  async run(invocation, client) {
    const { terminal, args } = invocation
    const name = deploymentName(args[0])
    const done = await client.deployments.restart(name)
    if (!done.ok) return printFailure(terminal, done.failure)
    print(terminal, `deployment/${name} restarting`)
    return followWritten(invocation, client, done.value)
  },
}
