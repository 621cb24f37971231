// `holdfast registry logout`: removes a registry credential from the platform.

import type { OnlineCommand } from '../../command.ts'
import { EXIT } from '../../exit-codes.ts'
import { printFailure } from '../../print/failure.ts'
import { print } from '../../terminal/terminal.ts'

export const registryLogout: OnlineCommand = {
  name: 'registry logout',
  summary: 'remove a registry credential from the platform',
  args: [{ name: 'host', summary: 'host of the registry', completes: 'registries' }],
  examples: [
    ['holdfast registry logout registry.example.com', 'Pulls its images without a credential from now on.'],
  ],
  online: true,
  async run({ terminal, args: [host = ''] }, client) {
    const removed = await client.registries.removeCredential(host)
    if (!removed.ok) return printFailure(terminal, removed.failure)
    print(terminal, `registry/${removed.value.host} credential removed`)
    return EXIT.ok
  },
}
