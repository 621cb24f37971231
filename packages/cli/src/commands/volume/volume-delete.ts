// `holdfast volume delete`: deletes a volume with its data.

import type { OnlineCommand } from '../../command.ts'
import { DRY_RUN_OPTION } from '../../dry-run.ts'
import { VOLUME_ARGUMENT } from '../../volume-command.ts'
import { waitOptions } from '../apply.ts'
import { remove } from '../delete.ts'

export const volumeDelete: OnlineCommand = {
  name: 'volume delete',
  summary: 'delete volumes and all their data',
  details: 'This cannot be undone. It is rejected while a deployment mounts the volume.',
  args: [{ ...VOLUME_ARGUMENT, many: true }],
  options: [DRY_RUN_OPTION, ...waitOptions('the volumes are gone')],
  examples: [
    ['holdfast volume delete data --dry-run', 'Shows what would be lost.'],
    ['holdfast volume delete data --wait', 'Deletes the volume and waits until no node has a copy.'],
  ],
  online: true,
  run: (invocation, client) => remove.run({ ...invocation, args: ['volume', ...invocation.args] }, client),
}
