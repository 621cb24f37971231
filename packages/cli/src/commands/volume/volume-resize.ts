// `holdfast volume resize`: changes the size of a volume.

import { typedSize } from '../../args/size.ts'
import type { OnlineCommand } from '../../command.ts'
import { DRY_RUN_OPTION } from '../../dry-run.ts'
import { memory } from '../../print/amounts.ts'
import { changeVolume, VOLUME_ARGUMENT, VOLUME_OUTPUT } from '../../volume-command.ts'
import { waitOptions } from '../apply.ts'

export const volumeResize: OnlineCommand = {
  name: 'volume resize',
  summary: 'change the size of a volume',
  details:
    'A larger size needs room on every node with a copy. A smaller size must be at least the bytes in use and 5 %. Containers keep running.',
  args: [VOLUME_ARGUMENT, { name: 'size', summary: 'new size with a unit, for example 20Gi' }],
  options: [DRY_RUN_OPTION, ...waitOptions('the volume is Ready'), VOLUME_OUTPUT],
  examples: [['holdfast volume resize data 20Gi --wait', 'Enlarges the volume and waits until it is Ready.']],
  online: true,
  async run(invocation, client) {
    const size = await typedSize(invocation.terminal, invocation.args[1] ?? '')
    if ('exitCode' in size) return size.exitCode
    const { bytes } = size
    return changeVolume(invocation, client, {
      outcome: (before, after) =>
        before.sizeBytes === after.sizeBytes
          ? 'unchanged'
          : `resized from ${memory(before.sizeBytes)} to ${memory(after.sizeBytes)}`,
      planned: `resized to ${memory(bytes)}`,
      change: ({ id }) => client.volumes.resize(id, bytes),
      plan: ({ id }) => client.volumes.dryRuns.resize(id, bytes),
    })
  },
}
