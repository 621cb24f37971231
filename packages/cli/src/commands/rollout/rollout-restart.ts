// `holdfast rollout restart`: recreates every replica without changing the deployment.

import { DEPLOYMENT_ARGUMENT, deploymentName } from '../../args/deployment-argument.ts'
import type { OnlineCommand } from '../../command.ts'
import { DRY_RUN_OPTION, printPlanned } from '../../dry-run.ts'
import { followWritten } from '../../follow/follow-written.ts'
import { printFailure } from '../../print/failure.ts'
import { print } from '../../terminal/terminal.ts'
import { waitOptions } from '../apply.ts'

export const rolloutRestart: OnlineCommand = {
  name: 'rollout restart',
  aliases: ['restart'],
  summary: 'recreate every replica of a deployment with a rolling update',
  args: [DEPLOYMENT_ARGUMENT],
  options: [DRY_RUN_OPTION, ...waitOptions()],
  examples: [
    [
      'holdfast rollout restart web --wait',
      'Recreates the replicas according to the update settings and waits.',
    ],
  ],
  online: true,
  async run(invocation, client) {
    const { terminal, args } = invocation
    const name = deploymentName(args[0])
    if (invocation.flag('dry-run'))
      return printPlanned(
        terminal,
        `deployment/${name}`,
        'restarted',
        await client.dryRuns.restart(name),
        name,
      )
    const done = await client.deployments.restart(name)
    if (!done.ok) return printFailure(terminal, done.failure)
    print(terminal, `deployment/${name} restarting`)
    return followWritten(invocation, client, done.value)
  },
}
