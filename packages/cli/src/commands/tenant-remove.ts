// A tenant goes, with everything it has.

import type { OnlineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { printFailure } from '../print/failure.ts'
import { print } from '../terminal/terminal.ts'

export const tenantRemove: OnlineCommand = {
  name: 'tenant remove',
  summary: 'remove a tenant with everything it has; for platform administrators',
  details: 'Its tokens are void at once; the rest follows.',
  args: [{ name: 'tenant', summary: 'its id' }],
  examples: [['holdfast tenant remove 0b7a...', 'There is no way back.']],
  online: true,
  async run({ terminal, args: [tenant = ''] }, client) {
    const gone = await client.tenants.remove(tenant)
    if (!gone.ok) return printFailure(terminal, gone.failure)
    print(terminal, `tenant/${gone.value.id} being removed`)
    return EXIT.ok
  },
}
