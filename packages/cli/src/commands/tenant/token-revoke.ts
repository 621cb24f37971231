// `holdfast token revoke`: revokes a token immediately.

import { tenantOf } from '../../args/token-tenant.ts'
import type { OnlineCommand } from '../../command.ts'
import { EXIT } from '../../exit-codes.ts'
import { printFailure } from '../../print/failure.ts'
import { print } from '../../terminal/terminal.ts'

export const tokenRevoke: OnlineCommand = {
  name: 'token revoke',
  summary: 'revoke a token of a tenant',
  args: [{ name: 'id', summary: 'id of the token, as printed by token list' }],
  examples: [['holdfast token revoke tok_01J...', 'Rejects the token from now on.']],
  online: true,
  async run(invocation, client) {
    const { terminal, args } = invocation
    const tenant = await tenantOf(invocation)
    if (tenant === undefined) return EXIT.usage
    const revoked = await client.tenants.revokeToken(tenant, (args[0] ?? '').replace(/^token\//, ''))
    if (!revoked.ok) return printFailure(terminal, revoked.failure)
    print(terminal, `token/${revoked.value.id} revoked`)
    return EXIT.ok
  },
}
