// `holdfast ps`: lists the replicas of one deployment or of all.

import { DEPLOYMENT_ARGUMENT, deploymentName } from '../args/deployment-argument.ts'
import type { OnlineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { printFailure } from '../print/failure.ts'
import { OUTPUT_OPTION, printItems } from '../print/output.ts'

export const ps: OnlineCommand = {
  name: 'ps',
  summary: 'list the replicas of all deployments, or of one',
  args: [{ ...DEPLOYMENT_ARGUMENT, optional: true }],
  options: [OUTPUT_OPTION],
  examples: [
    ['holdfast ps', 'Lists every replica with its node and state.'],
    ['holdfast ps web -o wide', 'Lists the replicas of web with their container ids.'],
  ],
  online: true,
  async run({ terminal, args: [typed], text }, client) {
    const { replicas, replicasOf } = await import('../resources/replicas.ts')
    const name = deploymentName(typed)
    const found = typed === undefined ? undefined : await client.deployments.read(name)
    if (found?.ok === false) return printFailure(terminal, found.failure)
    const listed = await (typed === undefined ? replicas.list(client) : replicasOf(client, [{ name }]))
    if (!listed.ok) return printFailure(terminal, listed.failure)
    await printItems(terminal, text('output'), replicas, listed.value)
    return EXIT.ok
  },
}
