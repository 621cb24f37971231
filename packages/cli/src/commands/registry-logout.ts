// A credential goes.

import type { OnlineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { printFailure } from '../print/failure.ts'
import { print } from '../terminal/terminal.ts'

export const registryLogout: OnlineCommand = {
  name: 'registry logout',
  summary: 'remove the credential for a registry from the platform',
  args: [{ name: 'host', summary: 'the registry', completes: 'registries' }],
  examples: [
    ['holdfast registry logout registry.example.com', 'Images are pulled without a credential from then on.'],
  ],
  online: true,
  async run({ terminal, args: [host = ''] }, client) {
    const gone = await client.registries.removeCredential(host)
    if (!gone.ok) return printFailure(terminal, gone.failure)
    print(terminal, `registry/${gone.value.host} credential removed`)
    return EXIT.ok
  },
}
