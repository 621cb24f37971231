// `holdfast token revoke`: revokes a token immediately, by its id or its name.

import type { Client } from '@holdfast/client'
import { isTokenId, type Me } from '@holdfast/contract'
import { tenantOf } from '../../args/token-tenant.ts'
import type { OnlineCommand } from '../../command.ts'
import { EXIT, type ExitCode } from '../../exit-codes.ts'
import { printError, printFailure } from '../../print/failure.ts'
import { print, type Terminal } from '../../terminal/terminal.ts'

export const tokenRevoke: OnlineCommand = {
  name: 'token revoke',
  summary: 'revoke a token of a tenant',
  args: [{ name: 'token', summary: 'id or name of the token, as printed by token list' }],
  examples: [['holdfast token revoke ci', 'Rejects the token from now on.']],
  online: true,
  async run(invocation, client) {
    const { terminal, args } = invocation
    const found = await tenantOf(terminal, client)
    if (!found.ok) return found.exit
    const token = await tokenId(terminal, client, found.tenant, (args[0] ?? '').replace(/^token\//, ''))
    if (!token.ok) return token.exit
    const revoked = await client.tenants.revokeToken(found.tenant.id, token.id)
    if (!revoked.ok) return printFailure(terminal, revoked.failure)
    print(terminal, `token/${revoked.value.id} revoked`)
    return EXIT.ok
  },
}

/** The id of the token with an id or name. A name that several tokens have is an error. */
async function tokenId(
  terminal: Terminal,
  client: Client,
  tenant: Me['tenant'],
  typed: string,
): Promise<{ ok: true; id: string } | { ok: false; exit: ExitCode }> {
  if (isTokenId(typed)) return { ok: true, id: typed }
  const { readAll } = await import('@holdfast/client')
  const listed = await readAll((page) => client.tenants.tokens(tenant.id, page))
  if (!listed.ok) return { ok: false, exit: printFailure(terminal, listed.failure) }
  const named = listed.value.filter(({ name }) => name === typed)
  const [token] = named
  if (token !== undefined && named.length === 1) return { ok: true, id: token.id }
  const ids = named.map(({ id }) => id).join(', ')
  printError(
    terminal,
    token === undefined
      ? `tenant ${tenant.name} has no token ${typed}; holdfast token list shows its tokens`
      : `${named.length} tokens of tenant ${tenant.name} have the name ${typed}; use an id: ${ids}`,
  )
  return { ok: false, exit: token === undefined ? EXIT.notFound : EXIT.usage }
}
