// GET /me: the caller as the server knows it.

import { type Me, VERSION } from '@holdfast/contract'
import { ACTIONS, may, reject } from '@holdfast/core'
import { tenants, tokens } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { globally } from '../../store/transaction.ts'
import { type Caller, done, type Outcome, refused } from '../caller.ts'

export function readMe(store: Pick<Store, 'get'>, caller: Caller): Outcome<Me> {
  const tenant = store.get(globally(tenants, caller.tenant))?.record
  const token = store.get(globally(tokens, caller.token))?.record
  if (token === undefined) return refused(reject('unauthenticated', 'Authorization', undefined))
  if (tenant === undefined) return refused(reject('tenant_not_found', 'tenant', caller.tenant))
  const { id, name, role, expiresAt } = token
  return done({
    tenant: { id: tenant.id, name: tenant.name },
    token: { id, name, role, expiresAt },
    actions: ACTIONS.filter((action) => may(role, action)),
    server: { version: VERSION },
  })
}
