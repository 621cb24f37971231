// `holdfast secret rotate`: performs one phase of a secret's rotation. The old and the new version stay valid until every
// consumer runs with the new version.

import { defined } from '@holdfast/contract'
import { DEPLOYMENT_ARGUMENT, deploymentName } from '../../args/deployment-argument.ts'
import { MATERIAL_DETAILS, MATERIAL_OPTIONS, NO_VALUES, readMaterial } from '../../args/secret-material.ts'
import { ROTATION_WORDS } from '../../args/vocabulary.ts'
import type { OnlineCommand } from '../../command.ts'
import { DRY_RUN_OPTION, printPlanned } from '../../dry-run.ts'
import { EXIT } from '../../exit-codes.ts'
import { printError, printFailure } from '../../print/failure.ts'
import { OUTPUT_OPTION, printItems } from '../../print/output.ts'
import { ROTATIONS } from '../../print/rotation.ts'

export const secretRotate: OnlineCommand = {
  name: 'secret rotate',
  summary: 'advance the rotation of a deployment by one phase, without downtime',
  details: `Phases: stage writes a new version that no container uses yet; overlap confirms that the target accepts both versions;\ncutover recreates the consumers with the new version, one by one; retire destroys the old version. All four are needed, in this order; each of them\nis one command. abort returns to the old version and is possible until retire.\n\n${MATERIAL_DETAILS}`,
  args: [
    DEPLOYMENT_ARGUMENT,
    { name: 'phase', summary: 'phase to enter', choices: ROTATION_WORDS },
    NO_VALUES,
  ],
  options: [
    { flags: '--secret <name>', summary: 'name of one secret entry (default: all)' },
    ...MATERIAL_OPTIONS,
    DRY_RUN_OPTION,
    OUTPUT_OPTION,
  ],
  examples: [
    [
      'holdfast secret rotate web stage --secret DB --generate password',
      'Writes a new version that no container uses yet.',
    ],
    [
      'holdfast secret rotate web overlap --secret DB',
      'Confirms that the target, such as a database, accepts both versions.',
    ],
    [
      'holdfast secret rotate web cutover --secret DB',
      'Recreates the containers with the new version, one by one.',
    ],
    ['holdfast secret rotate web retire --secret DB', 'Destroys the old version and ends the rotation.'],
    ['holdfast secret rotate web abort', 'Returns to the old version instead of the next phase.'],
  ],
  online: true,
  async run(invocation, client) {
    const { terminal, args, text } = invocation
    const phase = ROTATION_WORDS.find((step) => step === args[1])
    const material = await readMaterial(invocation, 2)
    if (phase === undefined || !material.ok) {
      printError(terminal, material.ok ? 'unknown phase' : material.why)
      return EXIT.usage
    }
    const secret = text('secret')
    const sent = { phase, ...defined({ secret }), ...material.sent }
    const name = deploymentName(args[0])
    if (invocation.flag('dry-run'))
      return printPlanned(
        terminal,
        `deployment/${name}`,
        `rotated: ${phase}`,
        await client.dryRuns.rotate(name, sent),
      )
    const rotated = await client.secrets.rotate(name, sent)
    if (!rotated.ok) return printFailure(terminal, rotated.failure)
    await printItems(terminal, text('output'), ROTATIONS, rotated.value.credentials)
    return EXIT.ok
  },
}
