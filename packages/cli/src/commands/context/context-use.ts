// `holdfast context use`: makes another context the current one.

import type { OfflineCommand } from '../../command.ts'
import { EXIT } from '../../exit-codes.ts'
import { printError } from '../../print/failure.ts'
import { readContextsFile, writeContextsFile } from '../../settings/contexts-file.ts'
import { report } from '../../terminal/terminal.ts'

export const contextUse: OfflineCommand = {
  name: 'context use',
  summary: 'switch to another context',
  args: [{ name: 'context', summary: 'name of the context', completes: 'contexts' }],
  examples: [['holdfast context use production', 'Makes it the context of all further commands.']],
  online: false,
  async run({ terminal, contextsFile, args: [name = ''] }) {
    const file = await readContextsFile(contextsFile)
    if (!file.ok) {
      printError(terminal, file.why)
      return EXIT.error
    }
    const { contexts } = file.contexts
    if (contexts[name] === undefined) {
      printError(
        terminal,
        `there is no context ${name}; known contexts: ${Object.keys(contexts).join(', ') || 'none'}`,
      )
      return EXIT.notFound
    }
    await writeContextsFile(contextsFile, { current: name, contexts })
    report(terminal, `current context: ${name}`)
    return EXIT.ok
  },
}
