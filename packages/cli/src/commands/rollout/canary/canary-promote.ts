// `holdfast rollout canary promote`: stores the change of a canary as a revision and rolls it out.

import { DEPLOYMENT_ARGUMENT, deploymentName } from '../../../args/deployment-argument.ts'
import type { OnlineCommand } from '../../../command.ts'
import { DRY_RUN_OPTION, printPlanned } from '../../../dry-run.ts'
import { followWritten } from '../../../follow/follow-written.ts'
import { printFailure } from '../../../print/failure.ts'
import { print } from '../../../terminal/terminal.ts'
import { waitOptions } from '../../apply.ts'

export const canaryPromote: OnlineCommand = {
  name: 'rollout canary promote',
  summary: 'roll the change of a canary out to all replicas',
  details: 'The rollout keeps the replicas of the canary and replaces the others.',
  args: [DEPLOYMENT_ARGUMENT],
  options: [
    { flags: '--force', summary: 'promote it although its observation has not ended' },
    DRY_RUN_OPTION,
    ...waitOptions(),
  ],
  examples: [
    [
      'holdfast rollout canary promote web --wait',
      'Rolls the change out and waits until it runs everywhere.',
    ],
    ['holdfast rollout canary promote web --force', 'Does not wait for the end of the observation.'],
  ],
  online: true,
  async run(invocation, client) {
    const { terminal, args, flag } = invocation
    const name = deploymentName(args[0])
    const force = flag('force')
    if (flag('dry-run'))
      return printPlanned(
        terminal,
        `deployment/${name}`,
        'updated',
        await client.dryRuns.promoteCanary(name, force),
        name,
      )
    const promoted = await client.deployments.promoteCanary(name, force)
    if (!promoted.ok) return printFailure(terminal, promoted.failure)
    print(
      terminal,
      `canary of deployment/${name} promoted, as revision ${promoted.value.deployment.revision}`,
    )
    return followWritten(invocation, client, promoted.value)
  },
}
