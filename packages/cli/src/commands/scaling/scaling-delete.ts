// `holdfast scaling delete`: removes the scaling policy of a deployment.

import { DEPLOYMENT_ARGUMENT, deploymentName } from '../../args/deployment-argument.ts'
import type { OnlineCommand } from '../../command.ts'
import { DRY_RUN_OPTION, printPlanned } from '../../dry-run.ts'
import { EXIT } from '../../exit-codes.ts'
import { count } from '../../print/count.ts'
import { printFailure } from '../../print/failure.ts'
import { print } from '../../terminal/terminal.ts'

export const scalingDelete: OnlineCommand = {
  name: 'scaling delete',
  summary: 'delete the scaling policy of a deployment',
  details: 'The deployment then has the number of replicas of its manifest, at once.',
  args: [DEPLOYMENT_ARGUMENT],
  options: [DRY_RUN_OPTION],
  examples: [
    ['holdfast scaling delete web --dry-run', 'Shows which replicas would stop.'],
    ['holdfast scaling delete web', 'Deletes the policy.'],
  ],
  online: true,
  async run({ terminal, args, flag }, client) {
    const name = deploymentName(args[0])
    if (flag('dry-run')) {
      const planned = await client.scaling.dryRuns.remove(name)
      return printPlanned(terminal, `deployment/${name}`, 'scaled by hand again', planned, name)
    }
    const removed = await client.scaling.remove(name)
    if (!removed.ok) return printFailure(terminal, removed.failure)
    const { desired } = removed.value.status
    print(
      terminal,
      `deployment/${name} has no scaling policy; ${count(desired, 'replica is', 'replicas are')} desired`,
    )
    return EXIT.ok
  },
}
