// `holdfast secret rotation`: shows the phase of each rotation and the blockers of its next phase.

import { DEPLOYMENT_ARGUMENT, deploymentName } from '../../args/deployment-argument.ts'
import type { OnlineCommand } from '../../command.ts'
import { EXIT } from '../../exit-codes.ts'
import { printFailure } from '../../print/failure.ts'
import { OUTPUT_OPTION, printItems } from '../../print/output.ts'
import { ROTATIONS } from '../../print/rotation.ts'

export const secretRotation: OnlineCommand = {
  name: 'secret rotation',
  summary: 'show the rotation of each credential: phase, version per consumer, blockers',
  args: [DEPLOYMENT_ARGUMENT],
  options: [OUTPUT_OPTION],
  examples: [['holdfast secret rotation web', 'If the last column is empty, the next phase can start.']],
  online: true,
  async run({ terminal, args: [typed], text }, client) {
    const read = await client.secrets.rotation(deploymentName(typed))
    if (!read.ok) return printFailure(terminal, read.failure)
    await printItems(terminal, text('output'), ROTATIONS, read.value.credentials)
    return EXIT.ok
  },
}
