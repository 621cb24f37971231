// A write by a token that was revoked, or in a tenant that is being removed, does not commit: both records are read in the
// transaction and therefore compared in it.

import type { Rejection } from '@holdfast/contract'
import { reject } from '@holdfast/core'
import { tenants, tokens } from '../store/records.ts'
import { globally, type Transaction } from '../store/transaction.ts'
import type { Caller } from './caller.ts'

export function requireLiveCaller(
  transaction: Transaction,
  { tenant, token }: Caller,
): Rejection | undefined {
  if (transaction.get(globally(tokens, token)) === undefined)
    return reject('unauthenticated', 'Authorization', undefined)
  const record = transaction.get(globally(tenants, tenant))
  return record === undefined || record.deleting ? reject('tenant_not_found', 'tenant', tenant) : undefined
}
