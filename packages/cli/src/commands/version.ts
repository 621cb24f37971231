// `holdfast version`: prints the versions of the CLI and of the server.

import { VERSION } from '@holdfast/contract'
import type { OfflineCommand } from '../command.ts'
import { connect, printUnconnected } from '../connect.ts'
import { EXIT } from '../exit-codes.ts'
import { printError, printFailure } from '../print/failure.ts'
import { print, report } from '../terminal/terminal.ts'

export const version: OfflineCommand = {
  name: 'version',
  summary: 'print the versions of the CLI and of the server',
  options: [{ flags: '--client', summary: 'print the version of the CLI only' }],
  examples: [['holdfast version', 'Prints both versions, to compare them.']],
  online: false,
  async run(invocation) {
    const { terminal } = invocation
    print(terminal, `client ${VERSION}`)
    if (invocation.flag('client')) return EXIT.ok
    const chosen = await invocation.settings()
    if (!chosen.ok) {
      printError(terminal, chosen.why)
      return EXIT.usage
    }
    const { url } = chosen.settings
    if (url === undefined) {
      report(terminal, 'no platform is configured; holdfast login --url <address> stores one')
      return EXIT.ok
    }
    const connected = await connect(invocation, { ...chosen.settings, url })
    if (!connected.ok) return printUnconnected(terminal, connected)
    const me = await connected.client.tenants.me()
    if (!me.ok) return printFailure(terminal, me.failure)
    print(terminal, `server ${me.value.server.version} (${url})`)
    return EXIT.ok
  },
}
