// Where images may come from.

import type { OnlineCommand } from '../command.ts'
import { OUTPUT_OPTION } from '../print/output.ts'
import { get } from './get.ts'

export const registryList: OnlineCommand = {
  name: 'registry list',
  summary: 'list the registries that images may come from',
  options: [OUTPUT_OPTION],
  examples: [['holdfast registry list', 'Each with whether a credential is kept for it.']],
  online: true,
  run: (invocation, client) => get.run({ ...invocation, args: ['registries'] }, client),
}
