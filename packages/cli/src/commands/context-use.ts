// Another context becomes the current one.

import type { OfflineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { printError } from '../print/failure.ts'
import { readContextsFile, writeContextsFile } from '../settings/contexts-file.ts'
import { report } from '../terminal/terminal.ts'

export const contextUse: OfflineCommand = {
  name: 'context use',
  summary: 'make a context the current one',
  args: [{ name: 'context', summary: 'its name', completes: 'contexts' }],
  examples: [['holdfast context use production', 'Every command from now on goes there.']],
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
        `there is no context ${name}; known are: ${Object.keys(contexts).join(', ') || 'none'}`,
      )
      return EXIT.notFound
    }
    await writeContextsFile(contextsFile, { current: name, contexts })
    report(terminal, `the context ${name} is the current one`)
    return EXIT.ok
  },
}
