// Counts how much a request reads from the history of a tenant. A page of events or audit entries is read from etcd, decoded and
// encoded for each request, so it costs the server much more than a record of the cache.

import type { Store } from '../../store/store.ts'

/** The part of the store that reads of the history use. */
export type HistoryReads = Pick<Store, 'fresh' | 'keysOf' | 'read' | 'revision'>

/** Entries that one request may read before it counts as another one. */
const ENTRIES_OF_A_REQUEST = 100

/** The reads of one request. `charge` counts the request once more for each further hundred of entries that it reads. */
export function chargedReads(store: HistoryReads, charge: (requests: number) => void): HistoryReads {
  let entries = 0
  const requests = (): number => Math.max(1, Math.ceil(entries / ENTRIES_OF_A_REQUEST))
  const read: Store['read'] = (collection, keys) => {
    const before = requests()
    entries += keys.length
    if (requests() > before) charge(requests() - before)
    return store.read(collection, keys)
  }
  return {
    fresh: () => store.fresh(),
    keysOf: (collection, tenant) => store.keysOf(collection, tenant),
    read,
    get revision() {
      return store.revision
    },
  }
}
