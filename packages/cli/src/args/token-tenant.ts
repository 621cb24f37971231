// The tenant id that the token commands need for their request path.

import type { Invocation } from '../command.ts'
import { printError } from '../print/failure.ts'

/** Error text for a missing --tenant: a token does not contain the id of its tenant. */
const NO_TENANT =
  'no tenant given; use --tenant <id> or HOLDFAST_TENANT (holdfast events -o json shows the id)'

export async function tenantOf({ settings, terminal }: Invocation): Promise<string | undefined> {
  const chosen = await settings()
  const tenant = chosen.ok ? chosen.settings.tenant : undefined
  if (tenant === undefined) printError(terminal, NO_TENANT)
  return tenant
}
