// In which tenant does this request act? The tenant comes from the credential; X-Tenant-ID and a {tenant} in the path may
// only confirm it, and a platform administrator chooses with either. DECISIONS 3 and 8, SPEC 5.

import { isTenantId, type Rejection, type TenantId } from '@holdfast/contract'
import { reject } from '@holdfast/core'
import type { Credential } from './authenticate.ts'

export interface TenantChoice {
  readonly credential: Credential
  readonly header: string | undefined
  readonly path: string | undefined
  exists(tenant: TenantId): boolean
}

export type ChosenTenant =
  | { readonly ok: true; readonly tenant: TenantId; readonly onBehalf: boolean }
  | { readonly ok: false; readonly rejection: Rejection }

export function chooseTenant(choice: TenantChoice): ChosenTenant {
  const own = choice.credential.tenant.id
  const { header, path } = choice
  if (header !== undefined && !isTenantId(header))
    return no(reject('header_invalid', 'X-Tenant-ID', header, UUID_FORM))
  const platform = choice.credential.token.role === 'platform-admin'
  return platform ? chosenByPlatform(choice, own) : confirmed(own, header, path)
}

const UUID_FORM = { accepted: 'one UUID in lower case' }

function confirmed(own: TenantId, header: string | undefined, path: string | undefined): ChosenTenant {
  if (path !== undefined && path !== own) return no(reject('tenant_not_found', 'tenant', path))
  if (header !== undefined && header !== own)
    return no(reject('permission_denied', 'X-Tenant-ID', header, OWN_TENANT))
  return { ok: true, tenant: own, onBehalf: false }
}

const OWN_TENANT = { accepted: 'the tenant of the token, or no header' }

function chosenByPlatform({ header, path, exists }: TenantChoice, own: TenantId): ChosenTenant {
  if (path !== undefined && header !== undefined && path !== header) {
    return no(reject('header_invalid', 'X-Tenant-ID', header, { accepted: 'the tenant that the path names' }))
  }
  const wanted = path ?? header ?? own
  if (isTenantId(wanted) && exists(wanted)) return { ok: true, tenant: wanted, onBehalf: wanted !== own }
  return no(reject('tenant_not_found', path === undefined ? 'X-Tenant-ID' : 'tenant', wanted))
}

function no(rejection: Rejection): ChosenTenant {
  return { ok: false, rejection }
}
