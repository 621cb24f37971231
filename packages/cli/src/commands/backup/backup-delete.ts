// `holdfast backup delete`: deletes backups.

import { BACKUP_ARGUMENT, backupId } from '../../args/backup-argument.ts'
import type { OnlineCommand } from '../../command.ts'
import { DRY_RUN_OPTION, printPlanned } from '../../dry-run.ts'
import { EXIT, type ExitCode } from '../../exit-codes.ts'
import { printFailure } from '../../print/failure.ts'
import { print } from '../../terminal/terminal.ts'

export const backupDelete: OnlineCommand = {
  name: 'backup delete',
  aliases: ['backup rm'],
  summary: 'delete backups; their deployments do not change',
  details: 'This cannot be undone.',
  args: [{ ...BACKUP_ARGUMENT, many: true }],
  options: [DRY_RUN_OPTION],
  examples: [['holdfast backup delete bak_01JD7QAF7T1B3V9W5Y8Z2A4C6D', 'Deletes one backup.']],
  online: true,
  async run({ terminal, args, flag }, client) {
    let exitCode: ExitCode = EXIT.ok
    for (const id of args.map((typed) => backupId(typed))) {
      if (flag('dry-run')) {
        const planned = await client.backups.dryRuns.remove(id)
        exitCode ||= printPlanned(terminal, `backup/${id}`, 'deleted', planned)
        continue
      }
      const removed = await client.backups.remove(id)
      if (removed.ok) print(terminal, `backup/${id} deleted`)
      else exitCode ||= printFailure(terminal, removed.failure)
    }
    return exitCode
  },
}
