// The volumes whose data a planned write would destroy.

import type { Effects, TenantId } from '@holdfast/contract'
import { volumes } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'

type ReadStore = Pick<Store, 'list'>

/** The volumes with copies that exist before the write, and that are deleted after it. */
export function lostData(before: ReadStore, after: ReadStore, tenant: TenantId): Effects['lostData'] {
  const kept = new Set(
    after
      .list(volumes, tenant)
      .filter(({ record }) => record.phase !== 'Deleting')
      .map(({ record }) => record.id),
  )
  return before
    .list(volumes, tenant)
    .filter(({ record }) => record.phase !== 'Deleting' && record.copies.length > 0 && !kept.has(record.id))
    .map(({ record }) => ({ volume: record.spec.name, reason: 'The volume is deleted with all its copies.' }))
}
