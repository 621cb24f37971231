// The event of a new version, whichever request brought it: PUT /secrets, a deployment, or a rotation. DECISIONS 7.

import type { TenantId } from '@holdfast/contract'
import type { Clock } from '../../../ports/clock.ts'
import type { Transaction } from '../../../store/transaction.ts'
import { recordEvent } from '../../record-write.ts'
import { pathOf } from './version-uses.ts'

/** Read by those who may not see the names of keys, so it has none (DECISIONS 8). */
export function emitSecretWritten(
  transaction: Transaction,
  clock: Clock,
  tenant: TenantId,
  credential: { readonly namespace: string; readonly label: string },
  version: number,
): void {
  const path = pathOf(credential)
  recordEvent(transaction, clock, tenant, {
    type: 'secret.written',
    severity: 'info',
    subject: { kind: 'Secret', name: path, uid: path },
    cause: String(version),
    reason: 'written',
    message: `Version ${version} of the secret ${path} was written.`,
    data: { path, version },
  })
}
