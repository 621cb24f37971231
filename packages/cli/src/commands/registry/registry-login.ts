// `holdfast registry login`: stores a registry credential in the platform's secrets store. The password is never an argument.

import type { OnlineCommand } from '../../command.ts'
import { EXIT } from '../../exit-codes.ts'
import { printError, printFailure } from '../../print/failure.ts'
import { print } from '../../terminal/terminal.ts'

export const registryLogin: OnlineCommand = {
  name: 'registry login',
  summary: 'store a registry credential on the platform',
  details:
    'The password comes from --password-stdin or a hidden prompt. It is stored in the secrets store and never printed.',
  args: [
    {
      name: 'host',
      summary: 'host of the registry, for example registry.example.com',
      completes: 'registries',
    },
  ],
  options: [
    { flags: '-u, --username <name>', summary: 'user name' },
    { flags: '--password-stdin', summary: 'read the password from stdin' },
  ],
  examples: [
    [
      'holdfast registry login registry.example.com -u ci --password-stdin < password',
      'Reads the password from a file, for scripts.',
    ],
  ],
  online: true,
  async run({ terminal, args: [host = ''], text, flag }, client) {
    const username = text('username')
    if (username === undefined) {
      printError(terminal, 'no user name given; use -u <name>')
      return EXIT.usage
    }
    const password = flag('password-stdin')
      ? new TextDecoder().decode(await terminal.readInput()).replace(/\r?\n$/, '')
      : await terminal.askSecret('Password: ')
    if (password === undefined) {
      printError(terminal, 'no password given; use --password-stdin')
      return EXIT.usage
    }
    const stored = await client.registries.setCredential(host, { username, password })
    if (!stored.ok) return printFailure(terminal, stored.failure)
    print(terminal, `registry/${stored.value.host} credential stored`)
    return EXIT.ok
  },
}
