// The tenant whose tokens a command reads or changes: that of the token, or the one of --tenant.

import type { Client } from '@holdfast/client'
import type { Me } from '@holdfast/contract'
import type { ExitCode } from '../exit-codes.ts'
import { printFailure } from '../print/failure.ts'
import type { Terminal } from '../terminal/terminal.ts'

export type TokenTenant =
  | { readonly ok: true; readonly tenant: Me['tenant']; readonly role: Me['token']['role'] }
  | { readonly ok: false; readonly exit: ExitCode }

export async function tenantOf(terminal: Terminal, client: Client): Promise<TokenTenant> {
  const me = await client.tenants.me()
  return me.ok
    ? { ok: true, tenant: me.value.tenant, role: me.value.token.role }
    : { ok: false, exit: printFailure(terminal, me.failure) }
}
