// `holdfast tenant remove`: removes a tenant and all its resources.

import type { OnlineCommand } from '../../command.ts'
import { DRY_RUN_OPTION, printPlanned } from '../../dry-run.ts'
import { EXIT } from '../../exit-codes.ts'
import { printFailure } from '../../print/failure.ts'
import { print } from '../../terminal/terminal.ts'

export const tenantRemove: OnlineCommand = {
  name: 'tenant remove',
  summary: 'remove a tenant and all its resources; for platform administrators',
  details: 'Its tokens are revoked immediately; the other resources are removed after that.',
  args: [{ name: 'tenant', summary: 'id of the tenant' }],
  options: [DRY_RUN_OPTION],
  examples: [['holdfast tenant remove 0b7a...', 'Removes the tenant; this cannot be undone.']],
  online: true,
  async run({ terminal, args: [tenant = ''], flag }, client) {
    if (flag('dry-run'))
      return printPlanned(terminal, `tenant/${tenant}`, 'removed', await client.dryRuns.removeTenant(tenant))
    const removed = await client.tenants.remove(tenant)
    if (!removed.ok) return printFailure(terminal, removed.failure)
    print(terminal, `tenant/${removed.value.id} being removed`)
    return EXIT.ok
  },
}
