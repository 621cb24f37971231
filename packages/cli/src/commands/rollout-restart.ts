// Every replica is made anew; what is stored stays.

import type { OnlineCommand } from '../command.ts'
import { DEPLOYMENT_ARGUMENT, deploymentName } from '../deployment-argument.ts'
import { EXIT } from '../exit-codes.ts'
import { tellAnnounced } from '../print/changes.ts'
import { tellFailure } from '../print/failure.ts'
import { print } from '../terminal.ts'
import { WAIT_OPTIONS, waitMs } from './apply.ts'

export const rolloutRestart: OnlineCommand = {
  name: 'rollout restart',
  summary: 'make every replica of a deployment anew, as an update would',
  args: [DEPLOYMENT_ARGUMENT],
  options: WAIT_OPTIONS,
  examples: [['holdfast rollout restart web --wait', 'One after the other, as its update settings say.']],
  online: true,
  async run(invocation, client) {
    const { terminal, args, flag } = invocation
    const name = deploymentName(args[0])
    const done = await client.deployments.restart(name, { signal: terminal.interrupted })
    if (!done.ok) return tellFailure(terminal, done.failure)
    print(terminal, `deployment/${name} restarting`)
    tellAnnounced(terminal, done.value)
    if (!flag('wait')) return EXIT.ok
    const { waitUntilWell } = await import('../wait-until-well.ts')
    return waitUntilWell(
      terminal,
      client,
      [{ name, revision: done.value.deployment.revision }],
      waitMs(invocation),
    )
  },
}
