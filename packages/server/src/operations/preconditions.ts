// Preconditions of a write: the caller's token and tenant still exist, and `If-Match` names the stored revision. The records are
// read in the transaction and therefore compared at commit (docs/design/api.md#conditional-writes).

import type { Rejection } from '@holdfast/contract'
import { reject } from '@holdfast/core'
import { signIns, tenants, tokens } from '../store/records.ts'
import { globally, type Transaction } from '../store/transaction.ts'
import type { Caller } from './caller.ts'

/** Rejects a caller whose token was revoked, whose browser was signed out, or whose tenant is being deleted. */
export function requireLiveCaller(
  transaction: Transaction,
  { tenant, token, signIn }: Caller,
): Rejection | undefined {
  const isSignedOut = signIn !== undefined && transaction.get(globally(signIns, signIn)) === undefined
  if (isSignedOut || transaction.get(globally(tokens, token)) === undefined)
    return reject('unauthenticated', 'Authorization', undefined)
  const record = transaction.get(globally(tenants, tenant))
  return record === undefined || record.deleting ? reject('tenant_not_found', 'tenant', tenant) : undefined
}

/** Rejects a write with 412 revision_conflict if `If-Match` names another revision than the stored one. */
export function checkIfMatch(ifMatch: string | undefined, revision: number): Rejection | undefined {
  if (ifMatch === undefined || ifMatch === '*' || ifMatch === `"${revision}"`) return undefined
  return reject('revision_conflict', 'If-Match', ifMatch, { etag: `"${revision}"` })
}
