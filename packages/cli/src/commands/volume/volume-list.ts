// `holdfast volume list`: the same as `holdfast get volumes`.

import type { OnlineCommand } from '../../command.ts'
import { OUTPUT_OPTION } from '../../print/output.ts'
import { get } from '../get.ts'

export const volumeList: OnlineCommand = {
  name: 'volume list',
  summary: 'list the volumes of the tenant',
  options: [OUTPUT_OPTION],
  examples: [['holdfast volume list -o wide', 'Lists all volumes with their residency and ids.']],
  online: true,
  run: (invocation, client) => get.run({ ...invocation, args: ['volumes'] }, client),
}
