// `holdfast rollout canary abort`: ends a canary and removes its replicas.

import { DEPLOYMENT_ARGUMENT, deploymentName } from '../../../args/deployment-argument.ts'
import type { OnlineCommand } from '../../../command.ts'
import { DRY_RUN_OPTION, printPlanned } from '../../../dry-run.ts'
import { EXIT } from '../../../exit-codes.ts'
import { printAnnounced } from '../../../print/changes.ts'
import { printFailure } from '../../../print/failure.ts'
import { print } from '../../../terminal/terminal.ts'

export const canaryAbort: OnlineCommand = {
  name: 'rollout canary abort',
  summary: 'end a canary and remove its replicas',
  details: 'The replicas of the deployment keep serving.',
  args: [DEPLOYMENT_ARGUMENT],
  options: [DRY_RUN_OPTION],
  examples: [['holdfast rollout canary abort web', 'Ends the canary of web.']],
  online: true,
  async run({ terminal, args, flag }, client) {
    const name = deploymentName(args[0])
    if (flag('dry-run'))
      return printPlanned(
        terminal,
        `deployment/${name}`,
        'left without a canary',
        await client.dryRuns.abortCanary(name),
        name,
      )
    const aborted = await client.deployments.abortCanary(name)
    if (!aborted.ok) return printFailure(terminal, aborted.failure)
    print(terminal, `canary of deployment/${name} aborted`)
    printAnnounced(terminal, aborted.value, { verbose: flag('verbose') })
    return EXIT.ok
  },
}
