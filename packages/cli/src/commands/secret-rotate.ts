// One step of a rotation: both credentials are valid until the last consumer has proved the new one.

import { DEPLOYMENT_ARGUMENT, deploymentName } from '../args/deployment-argument.ts'
import { MATERIAL_DETAILS, MATERIAL_OPTIONS, NO_VALUES, readMaterial } from '../args/secret-material.ts'
import { ROTATION_WORDS } from '../args/vocabulary.ts'
import type { OnlineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { printError, printFailure } from '../print/failure.ts'
import { OUTPUT_OPTION, printItems } from '../print/output.ts'
import { ROTATIONS } from '../print/rotation.ts'

export const secretRotate: OnlineCommand = {
  name: 'secret rotate',
  summary: 'take the credentials of a deployment one phase further, with no moment without a valid one',
  details: `The phases: stage (a new version, given to nobody), overlap (you have made the target accept both), cutover (consumers are\nrecreated with the new one, one after another), retire (the old version is destroyed). abort goes back.\n\n${MATERIAL_DETAILS}`,
  args: [
    DEPLOYMENT_ARGUMENT,
    { name: 'phase', summary: 'the step to take', choices: ROTATION_WORDS },
    NO_VALUES,
  ],
  options: [
    { flags: '--secret <name>', summary: 'one entry of the deployment (default: all of them)' },
    ...MATERIAL_OPTIONS,
    OUTPUT_OPTION,
  ],
  examples: [
    [
      'holdfast secret rotate web stage --secret DB --generate password',
      'A new version, not used by anybody yet.',
    ],
    [
      'holdfast secret rotate web cutover --secret DB',
      'Containers are recreated with it behind their health checks.',
    ],
    ['holdfast secret rotate web abort', 'Back to the old version.'],
  ],
  online: true,
  async run(invocation, client) {
    const { terminal, args, text } = invocation
    const phase = ROTATION_WORDS.find((step) => step === args[1])
    const material = await readMaterial(invocation, 2)
    if (phase === undefined || !material.ok) {
      printError(terminal, material.ok ? 'there is no such phase' : material.why)
      return EXIT.usage
    }
    const secret = text('secret')
    const sent = { phase, ...(secret === undefined ? {} : { secret }), ...material.sent }
    const rotated = await client.secrets.rotate(deploymentName(args[0]), sent)
    if (!rotated.ok) return printFailure(terminal, rotated.failure)
    await printItems(terminal, text('output'), ROTATIONS, rotated.value.credentials)
    return EXIT.ok
  },
}
