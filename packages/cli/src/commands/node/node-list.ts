// `holdfast node list`: lists the nodes of the tenant.

import type { OnlineCommand } from '../../command.ts'
import { OUTPUT_OPTION } from '../../print/output.ts'
import { get } from '../get.ts'

export const nodeList: OnlineCommand = {
  name: 'node list',
  aliases: ['node ls'],
  summary: 'list the nodes of the tenant',
  options: [OUTPUT_OPTION],
  examples: [['holdfast node list -o wide', 'Lists the nodes with their labels.']],
  online: true,
  run: (invocation, client) => get.run({ ...invocation, args: ['nodes'] }, client),
}
