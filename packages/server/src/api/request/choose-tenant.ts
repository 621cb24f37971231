// The tenant in which a request acts. The tenant comes from the token; X-Tenant-ID and a {tenant} in the path may only
// confirm it. A platform administrator chooses the tenant with either of the two. A path names a tenant by id or name, the
// header by id. See docs/design/api.md#tenants.

import { isTenantId, type Rejection, type TenantId } from '@holdfast/contract'
import { reject } from '@holdfast/core'
import type { Credential } from './authenticate.ts'

export interface TenantChoice {
  readonly credential: Credential
  readonly header: string | undefined
  readonly path: string | undefined
  /** The tenant with an id or name; undefined if there is none. */
  find(idOrName: string): TenantId | undefined
}

export type ChosenTenant =
  | { readonly ok: true; readonly tenant: TenantId; readonly onBehalf: boolean }
  | { readonly ok: false; readonly rejection: Rejection }

/** Checks the tenant in the path before the tenant in the header, as the public order of checks requires. */
export function chooseTenant({ credential, header, path, find }: TenantChoice): ChosenTenant {
  const { id: own, name } = credential.tenant
  const platform = credential.token.role === 'platform-admin'
  const reach = (text: string): TenantId | undefined => {
    if (platform) return find(text)
    return text === own || text === name ? own : undefined
  }
  const named = path === undefined ? undefined : reach(path)
  if (path !== undefined && named === undefined) return rejected(reject('tenant_not_found', 'tenant', path))
  if (header !== undefined && !isTenantId(header))
    return rejected(reject('header_invalid', 'X-Tenant-ID', header, UUID_FORM))
  if (header !== undefined && !platform && header !== own)
    return rejected(reject('permission_denied', 'X-Tenant-ID', header, OWN_TENANT))
  if (header !== undefined && named !== undefined && named !== header)
    return rejected(reject('header_invalid', 'X-Tenant-ID', header, PATH_TENANT))
  const tenant = named ?? reach(header ?? own)
  if (tenant === undefined) return rejected(reject('tenant_not_found', 'X-Tenant-ID', header))
  return { ok: true, tenant, onBehalf: tenant !== own }
}

const UUID_FORM = { accepted: 'one UUID in lower case' }
const OWN_TENANT = { accepted: 'the tenant of the token, or no header' }
const PATH_TENANT = { accepted: 'the tenant that the path names' }

function rejected(rejection: Rejection): ChosenTenant {
  return { ok: false, rejection }
}
