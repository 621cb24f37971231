// `holdfast registry list`: lists the allowed image registries.

import type { OnlineCommand } from '../../command.ts'
import { OUTPUT_OPTION } from '../../print/output.ts'
import { get } from '../get.ts'

export const registryList: OnlineCommand = {
  name: 'registry list',
  aliases: ['registry ls'],
  summary: 'list the allowed image registries',
  options: [OUTPUT_OPTION],
  examples: [['holdfast registry list', 'Shows for each whether a credential is stored.']],
  online: true,
  run: (invocation, client) => get.run({ ...invocation, args: ['registries'] }, client),
}
