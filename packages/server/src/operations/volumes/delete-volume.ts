// DELETE .../volumes/{id}: frees the name, the quota slot and the bytes. A volume that a deployment mounts stays.

import type { Volume } from '@holdfast/contract'
import { quotaBytes, reject } from '@holdfast/core'
import { freeSlot } from '../../quotas/hold-slot.ts'
import { volumeNames, volumes } from '../../store/records.ts'
import { inTenant } from '../../store/transaction.ts'
import { type Caller, done, type Outcome, refused } from '../caller.ts'
import { recordAudit } from '../record-write.ts'
import { findToChange } from './change-volume.ts'
import type { VolumeDeps } from './deps.ts'
import { countBytes } from './volume-use.ts'
import { usersOf } from './volume-users.ts'
import { volumeView } from './volume-view.ts'

export async function deleteVolume(
  { store, clock }: Pick<VolumeDeps, 'store' | 'clock'>,
  caller: Caller,
  id: string,
  ifMatch: string | undefined,
): Promise<Outcome<Volume>> {
  const { tenant } = caller
  return store.transact<Outcome<Volume>>((transaction) => {
    const found = findToChange(transaction, caller, id, ifMatch)
    if (!found.ok) return { kind: 'abort', result: found }
    const stored = found.value
    const view = volumeView(store, tenant, { ...stored, phase: 'Deleting' })
    const consumers = usersOf(transaction, tenant, stored.id, view.consumers).join(', ')
    if (consumers !== '')
      return { kind: 'abort', result: refused(reject('volume_in_use', 'id', id, { consumers })) }
    transaction.delete(inTenant(tenant, volumes, stored.id))
    transaction.delete(inTenant(tenant, volumeNames, stored.spec.name))
    freeSlot(transaction, tenant, 'volumes', stored.slot)
    countBytes(transaction, tenant, -quotaBytes(stored.spec))
    const subject = { kind: 'Volume', name: stored.spec.name }
    recordAudit(transaction, clock, caller, { action: 'volumes:delete', subject })
    return { kind: 'commit', result: done(view) }
  })
}
