// The audit entry of a request that reads or deletes data of a former primary, because the data is the tenant's own.

import type { Divergence, Rejection } from '@holdfast/contract'
import type { Clock } from '../../../ports/clock.ts'
import type { StoredVolume } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import type { Caller } from '../../caller.ts'
import { requireLiveCaller } from '../../preconditions.ts'
import { recordAudit } from '../../record-write.ts'

/** Writes the entry. Returns the rejection of a caller whose token or tenant is gone. */
export async function auditDivergence(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  caller: Caller,
  action: string,
  { spec }: StoredVolume,
  { epoch, nodeId }: Divergence,
): Promise<Rejection | undefined> {
  return store.transact((transaction) => {
    const refusal = requireLiveCaller(transaction, caller)
    if (refusal !== undefined) return { kind: 'abort', result: refusal }
    recordAudit(transaction, clock, caller, {
      action,
      subject: { kind: 'Volume', name: spec.name },
      detail: { epoch: String(epoch), nodeId },
    })
    return { kind: 'commit', result: undefined }
  })
}
