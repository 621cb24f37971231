// `holdfast network list`: the same as `holdfast get networks`.

import type { OnlineCommand } from '../../command.ts'
import { OUTPUT_OPTION } from '../../print/output.ts'
import { get } from '../get.ts'

export const networkList: OnlineCommand = {
  name: 'network list',
  summary: 'list the networks of the tenant',
  options: [OUTPUT_OPTION],
  examples: [['holdfast network list -o wide', 'Lists all networks with their nodes and ids.']],
  online: true,
  run: (invocation, client) => get.run({ ...invocation, args: ['networks'] }, client),
}
