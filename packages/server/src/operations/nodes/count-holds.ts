// Counts the nodes that remove nothing, of all tenants, for the metrics.

import { nodes, tenants } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'

export const countHolds = (store: Pick<Store, 'list'>): number =>
  store
    .list(tenants)
    .map(
      ({ record: { id } }) => store.list(nodes, id).filter(({ record }) => record.hold !== undefined).length,
    )
    .reduce((sum, count) => sum + count, 0)
