// `holdfast tenant create`: creates a tenant with its own mount in the secrets store.

import type { OnlineCommand } from '../../command.ts'
import { EXIT } from '../../exit-codes.ts'
import { printFailure } from '../../print/failure.ts'
import { print, report } from '../../terminal/terminal.ts'

export const tenantCreate: OnlineCommand = {
  name: 'tenant create',
  summary: 'create a tenant; for platform administrators',
  args: [{ name: 'name', summary: 'name of the tenant' }],
  examples: [['holdfast tenant create acme', 'Creates a tenant and prints its id and the next commands.']],
  online: true,
  async run({ terminal, args: [name = ''] }, client) {
    const created = await client.tenants.create({ name })
    if (!created.ok) return printFailure(terminal, created.failure)
    print(terminal, `tenant/${created.value.id} created`)
    report(terminal, `name: ${created.value.name}`)
    report(terminal, `next: holdfast token create NAME --role tenant-admin --tenant ${created.value.name}`)
    report(terminal, `      holdfast node join-token NODE --tenant ${created.value.name}`)
    return EXIT.ok
  },
}
