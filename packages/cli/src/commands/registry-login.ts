// A credential for a registry goes to the platform's secrets store. It is never on the command line.

import type { OnlineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { printError, printFailure } from '../print/failure.ts'
import { print } from '../terminal/terminal.ts'

export const registryLogin: OnlineCommand = {
  name: 'registry login',
  summary: 'keep a credential for a registry on the platform',
  details:
    'The password comes from --password-stdin or a hidden question. It goes to the secrets store and is never shown again.',
  args: [
    { name: 'host', summary: 'the registry, for example registry.example.com', completes: 'registries' },
  ],
  options: [
    { flags: '-u, --username <name>', summary: 'who to log in as' },
    { flags: '--password-stdin', summary: 'read the password from stdin' },
  ],
  examples: [
    ['holdfast registry login registry.example.com -u ci --password-stdin < password', 'Off a terminal.'],
  ],
  online: true,
  async run({ terminal, args: [host = ''], text, flag }, client) {
    const username = text('username')
    if (username === undefined) {
      printError(terminal, 'no user is named: -u <name>')
      return EXIT.usage
    }
    const password = flag('password-stdin')
      ? new TextDecoder().decode(await terminal.readInput()).replace(/\r?\n$/, '')
      : await terminal.askSecret('Password: ')
    if (password === undefined) {
      printError(terminal, 'no password is given: --password-stdin')
      return EXIT.usage
    }
    const kept = await client.registries.setCredential(host, { username, password })
    if (!kept.ok) return printFailure(terminal, kept.failure)
    print(terminal, `registry/${kept.value.host} credential kept`)
    return EXIT.ok
  },
}
