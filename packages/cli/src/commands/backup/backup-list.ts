// `holdfast backup list`: the same as `holdfast get backups`.

import type { OnlineCommand } from '../../command.ts'
import { OUTPUT_OPTION } from '../../print/output.ts'
import { get } from '../get.ts'

export const backupList: OnlineCommand = {
  name: 'backup list',
  aliases: ['backup ls'],
  summary: 'list the backups of the tenant, oldest first',
  options: [OUTPUT_OPTION],
  examples: [['holdfast backup list', 'Lists each backup with its deployment and revision.']],
  online: true,
  run: (invocation, client) => get.run({ ...invocation, args: ['backups'] }, client),
}
