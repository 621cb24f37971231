// `holdfast secret delete`: destroys all versions of a secret.

import { NO_PATH, SECRET_ARGUMENT, secretPath } from '../../args/secret-argument.ts'
import type { OnlineCommand } from '../../command.ts'
import { EXIT } from '../../exit-codes.ts'
import { printError, printFailure } from '../../print/failure.ts'
import { print } from '../../terminal/terminal.ts'

export const secretDelete: OnlineCommand = {
  name: 'secret delete',
  summary: 'destroy all versions of an unused secret',
  details: 'This cannot be undone. It is rejected while a deployment references the secret.',
  args: [SECRET_ARGUMENT],
  examples: [['holdfast secret delete resources/orders-db', 'Deletes the secret; its name can be reused.']],
  online: true,
  async run({ terminal, args: [typed] }, client) {
    const path = secretPath(typed)
    if (path === undefined) {
      printError(terminal, NO_PATH)
      return EXIT.usage
    }
    const deleted = await client.secrets.remove(path.namespace, path.resource)
    if (!deleted.ok) return printFailure(terminal, deleted.failure)
    print(terminal, `secret/${deleted.value.path} deleted`)
    return EXIT.ok
  },
}
