// The volumes of which a planned write would destroy data.

import type { Effects, TenantId } from '@holdfast/contract'
import { pools, volumes } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { inTenant } from '../../store/transaction.ts'
import { lossSeconds, lossText } from './promotion/promotion-events.ts'
import { namesOfNodes } from './volume-view.ts'

type ReadStore = Pick<Store, 'get' | 'list'>

/**
 * The volumes with data that are deleted by the write, whose copy without the newest writes becomes the primary, or of which
 * a node deletes data that it kept.
 */
export function lostData(before: ReadStore, after: ReadStore, tenant: TenantId): Effects['lostData'] {
  return [
    ...deleted(before, after, tenant),
    ...leftBehind(before, after, tenant),
    ...noLongerKept(before, after, tenant),
  ]
}

function leftBehind(before: ReadStore, after: ReadStore, tenant: TenantId): Effects['lostData'] {
  const nameOf = namesOfNodes(before, tenant)
  return after.list(volumes, tenant).flatMap(({ record: { id, spec, promotions } }) => {
    const [newest] = promotions ?? []
    const [known] = before.get(inTenant(tenant, volumes, id))?.record.promotions ?? []
    if (newest === undefined || newest.toEpoch === known?.toEpoch) return []
    const seconds = lossSeconds(newest)
    const reason =
      seconds === 0
        ? lossText(newest, nameOf)
        : `${lossText(newest, nameOf)} ${bytesText(nameOf(newest.from))}`
    return [{ volume: spec.name, reason, seconds }]
  })
}

/** Only the lost machine has the bytes that no copy has received. */
const bytesText = (node: string): string =>
  `The number of bytes is unknown; if ${node} returns, it keeps them in quarantine.`

function noLongerKept(before: ReadStore, after: ReadStore, tenant: TenantId): Effects['lostData'] {
  const nameOf = namesOfNodes(before, tenant)
  return before.list(pools, tenant).flatMap(({ record: { nodeId, quarantined = [] } }) => {
    const left = after.get(inTenant(tenant, pools, nodeId))?.record.quarantined ?? []
    const isLeft = (one: (typeof quarantined)[number]): boolean =>
      left.some(({ volume, epoch }) => volume === one.volume && epoch === one.epoch)
    return quarantined
      .filter((one) => !isLeft(one))
      .map(({ volume, epoch }) => ({
        volume: before.get(inTenant(tenant, volumes, volume))?.record.spec.name ?? volume,
        reason: `Node ${nameOf(nodeId)} deletes the data that it kept of epoch ${epoch}.`,
      }))
  })
}

function deleted(before: ReadStore, after: ReadStore, tenant: TenantId): Effects['lostData'] {
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
