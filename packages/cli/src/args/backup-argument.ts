// The backup argument of commands: an id, or `backup/<id>` as printed by `-o name`.

import type { ArgumentSpec } from '../command.ts'

export const BACKUP_ARGUMENT: ArgumentSpec = {
  name: 'backup',
  summary: 'id of the backup; holdfast backup list lists them',
  completes: 'backups',
}

export const backupId = (typed = ''): string => typed.replace(/^backups?\//, '')
