// `holdfast network describe`: the same as `holdfast describe network`.

import type { OnlineCommand } from '../../command.ts'
import { NETWORK_ARGUMENT, networkName } from '../../network-command.ts'

const EVENTS = 10

export const networkDescribe: OnlineCommand = {
  name: 'network describe',
  summary: 'show the phase, the node and the use of a network',
  args: [NETWORK_ARGUMENT],
  examples: [['holdfast network describe backend', 'Shows where it is and who is attached to it.']],
  online: true,
  async run({ terminal, args }, client) {
    const { describeNetwork } = await import('../describe-network.ts')
    return describeNetwork(terminal, client, { name: networkName(args[0]), events: EVENTS })
  },
}
