// A new tenant, with its own secrets mount.

import type { OnlineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { printFailure } from '../print/failure.ts'
import { print } from '../terminal/terminal.ts'

export const tenantCreate: OnlineCommand = {
  name: 'tenant create',
  summary: 'create a tenant; for platform administrators',
  args: [{ name: 'name', summary: 'what to call it' }],
  examples: [['holdfast tenant create acme', 'Prints its id.']],
  online: true,
  async run({ terminal, args: [name = ''] }, client) {
    const made = await client.tenants.create({ name })
    if (!made.ok) return printFailure(terminal, made.failure)
    print(terminal, `tenant/${made.value.id} created`)
    return EXIT.ok
  },
}
