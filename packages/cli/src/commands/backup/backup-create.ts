// `holdfast backup create`: copies the configuration of a deployment.

import { DEPLOYMENT_ARGUMENT, deploymentName } from '../../args/deployment-argument.ts'
import type { OnlineCommand } from '../../command.ts'
import { DRY_RUN_OPTION, printPlanned } from '../../dry-run.ts'
import { EXIT } from '../../exit-codes.ts'
import { memory } from '../../print/amounts.ts'
import { count } from '../../print/count.ts'
import { printFailure } from '../../print/failure.ts'
import { OUTPUT_OPTION, printItems } from '../../print/output.ts'
import { print } from '../../terminal/terminal.ts'

export const backupCreate: OnlineCommand = {
  name: 'backup create',
  summary: 'copy the configuration of a deployment and its revisions',
  details:
    'A backup survives the deletion of its deployment. It contains references to secrets, never their values, and no data of volumes.',
  args: [DEPLOYMENT_ARGUMENT],
  options: [DRY_RUN_OPTION, { ...OUTPUT_OPTION, summary: 'print the backup (default: one line)' }],
  examples: [
    ['holdfast backup create web', 'Creates a backup and prints its id.'],
    ['holdfast backup create web -o json', 'Prints the backup for a script.'],
  ],
  online: true,
  async run({ terminal, args, flag, text }, client) {
    const name = deploymentName(args[0])
    if (flag('dry-run'))
      return printPlanned(
        terminal,
        `deployment/${name}`,
        'backed up',
        await client.backups.dryRuns.create(name),
      )
    const created = await client.backups.create(name)
    if (!created.ok) return printFailure(terminal, created.failure)
    const backup = created.value
    const { id, deploymentRevision, revisionCount, sizeBytes } = backup
    if (text('output') !== undefined) {
      const { backups } = await import('../../resources/backups.ts')
      await printItems(terminal, text('output'), backups, [backup], true)
      return EXIT.ok
    }
    print(
      terminal,
      `backup/${id} created of deployment/${name}, revision ${deploymentRevision}; it has ${count(revisionCount, 'revision')}, ${memory(sizeBytes)}`,
    )
    return EXIT.ok
  },
}
