// A secret goes, with all its versions.

import { NO_PATH, SECRET_ARGUMENT, secretPath } from '../args/secret-argument.ts'
import type { OnlineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { printError, printFailure } from '../print/failure.ts'
import { print } from '../terminal/terminal.ts'

export const secretDelete: OnlineCommand = {
  name: 'secret delete',
  summary: 'destroy all versions of a secret that nothing refers to',
  details: 'It cannot be brought back. While a deployment refers to the secret this is refused.',
  args: [SECRET_ARGUMENT],
  examples: [['holdfast secret delete resources/orders-db', 'Its name may be used anew afterwards.']],
  online: true,
  async run({ terminal, args: [typed] }, client) {
    const path = secretPath(typed)
    if (path === undefined) {
      printError(terminal, NO_PATH)
      return EXIT.usage
    }
    const gone = await client.secrets.remove(path.namespace, path.resource)
    if (!gone.ok) return printFailure(terminal, gone.failure)
    print(terminal, `secret/${gone.value.path} deleted`)
    return EXIT.ok
  },
}
