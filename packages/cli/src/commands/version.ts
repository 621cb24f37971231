// `holdfast version`: prints the versions of the CLI and of the server.

import { VERSION } from '@holdfast/contract'
import type { OfflineCommand } from '../command.ts'
import { openChosen } from '../connect.ts'
import { EXIT } from '../exit-codes.ts'
import { printFailure } from '../print/failure.ts'
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
    const opened = await openChosen(invocation)
    if (opened.kind === 'failed') return opened.exit
    if (opened.kind === 'unset') {
      report(terminal, 'no platform is configured; holdfast login --url <address> stores one')
      return EXIT.ok
    }
    const { client, url } = opened
    const me = await client.tenants.me()
    if (!me.ok) return printFailure(terminal, me.failure)
    print(terminal, `server ${me.value.server.version} (${url})`)
    return EXIT.ok
  },
}
