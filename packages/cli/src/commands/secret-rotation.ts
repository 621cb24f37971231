// How far a rotation is, and what it waits for.

import { DEPLOYMENT_ARGUMENT, deploymentName } from '../args/deployment-argument.ts'
import type { OnlineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { printFailure } from '../print/failure.ts'
import { OUTPUT_OPTION, printItems } from '../print/output.ts'
import { ROTATIONS } from '../print/rotation.ts'

export const secretRotation: OnlineCommand = {
  name: 'secret rotation',
  summary:
    'show the phase of each credential of a deployment, who runs which version, and what blocks the next phase',
  args: [DEPLOYMENT_ARGUMENT],
  options: [OUTPUT_OPTION],
  examples: [
    ['holdfast secret rotation web', 'Nothing in the last column: the next phase may be asked for.'],
  ],
  online: true,
  async run({ terminal, args: [typed], text }, client) {
    const read = await client.secrets.rotation(deploymentName(typed))
    if (!read.ok) return printFailure(terminal, read.failure)
    await printItems(terminal, text('output'), ROTATIONS, read.value.credentials)
    return EXIT.ok
  },
}
