// Tokens belong to a tenant, and its id is in their path.

import type { Invocation } from '../command.ts'
import { printError } from '../print/failure.ts'

/** A token does not show which tenant it is of. */
const NO_TENANT =
  'no tenant is named: --tenant <id>, or HOLDFAST_TENANT; each event names it: holdfast events -o json'

export async function tenantOf({ settings, terminal }: Invocation): Promise<string | undefined> {
  const chosen = await settings()
  const tenant = chosen.ok ? chosen.settings.tenant : undefined
  if (tenant === undefined) printError(terminal, NO_TENANT)
  return tenant
}
