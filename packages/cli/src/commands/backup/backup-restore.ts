// `holdfast backup restore`: stores the manifest of a backup again.

import { BACKUP_ARGUMENT, backupId } from '../../args/backup-argument.ts'
import type { OnlineCommand } from '../../command.ts'
import { DRY_RUN_OPTION, printPlanned } from '../../dry-run.ts'
import { followWritten } from '../../follow/follow-written.ts'
import { printFailure } from '../../print/failure.ts'
import { print } from '../../terminal/terminal.ts'
import { waitOptions } from '../apply.ts'

export const backupRestore: OnlineCommand = {
  name: 'backup restore',
  summary: 'restore a deployment from a backup, also after its deletion',
  details:
    'The manifest of the backup is validated like any other. It becomes a new revision of the deployment, or creates the deployment again.',
  args: [BACKUP_ARGUMENT],
  options: [DRY_RUN_OPTION, ...waitOptions()],
  examples: [
    [
      'holdfast backup restore bak_01JD7QAF7T1B3V9W5Y8Z2A4C6D --dry-run',
      'Shows what the restore would change.',
    ],
    [
      'holdfast backup restore bak_01JD7QAF7T1B3V9W5Y8Z2A4C6D --wait',
      'Restores the deployment and waits until it runs.',
    ],
  ],
  online: true,
  async run(invocation, client) {
    const { terminal, args, flag } = invocation
    const id = backupId(args[0])
    if (flag('dry-run')) {
      const read = await client.backups.read(id)
      if (!read.ok) return printFailure(terminal, read.failure)
      const name = read.value.deploymentName
      const planned = await client.backups.dryRuns.restore(id)
      return printPlanned(terminal, `deployment/${name}`, `restored from backup/${id}`, planned, name)
    }
    const restored = await client.backups.restore(id)
    if (!restored.ok) return printFailure(terminal, restored.failure)
    const { name, revision } = restored.value.deployment
    print(terminal, `deployment/${name} restored from backup/${id}, as revision ${revision}`)
    return followWritten(invocation, client, restored.value)
  },
}
