// `holdfast volume describe`: the same as `holdfast describe volume`.

import type { OnlineCommand } from '../../command.ts'
import { VOLUME_ARGUMENT, volumeName } from '../../volume-command.ts'

const EVENTS = 10

export const volumeDescribe: OnlineCommand = {
  name: 'volume describe',
  summary: 'show the phase, the copies and the use of a volume',
  args: [VOLUME_ARGUMENT],
  examples: [['holdfast volume describe data', 'Shows where its copies are and who mounts it.']],
  online: true,
  async run({ terminal, args }, client) {
    const { describeVolume } = await import('../describe-volume.ts')
    return describeVolume(terminal, client, { name: volumeName(args[0]), events: EVENTS })
  },
}
