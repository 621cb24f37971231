// `holdfast context list`: lists the known platforms, without their tokens.

import { defined } from '@holdfast/contract'
import type { OfflineCommand } from '../../command.ts'
import { EXIT } from '../../exit-codes.ts'
import { printError } from '../../print/failure.ts'
import { OUTPUT_OPTION, type Printed, printItems } from '../../print/output.ts'
import { readContextsFile } from '../../settings/contexts-file.ts'

interface Listed {
  readonly name: string
  readonly current: boolean
  readonly url: string
  readonly tenant?: string
}

const LISTED: Printed<Listed> = {
  kind: 'context',
  begin: 'holdfast login --url <address> creates one',
  nameOf: ({ name }) => name,
  columns: [
    { header: 'CURRENT', value: ({ current }) => (current ? '*' : ' ') },
    { header: 'NAME', value: ({ name }) => name },
    { header: 'URL', value: ({ url }) => url },
    { header: 'TENANT', value: ({ tenant = '' }) => tenant },
  ],
}

export const contextList: OfflineCommand = {
  name: 'context list',
  aliases: ['context ls'],
  summary: 'list the contexts',
  options: [OUTPUT_OPTION],
  examples: [['holdfast context list', 'Marks the current context with a star.']],
  online: false,
  async run({ terminal, contextsFile, text }) {
    const file = await readContextsFile(contextsFile)
    if (!file.ok) {
      printError(terminal, file.why)
      return EXIT.error
    }
    const { current, contexts } = file.contexts
    const listed = Object.entries(contexts).map(([name, { url, tenant: id, tenantName: tenant = id }]) => ({
      name,
      current: name === current,
      url,
      ...defined({ tenant }),
    }))
    await printItems(terminal, text('output'), LISTED, listed)
    return EXIT.ok
  },
}
