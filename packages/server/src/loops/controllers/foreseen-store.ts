// The records as they would be: what is foreseen lies over what the cache shows, and nothing of it is ever written.

import type { TenantId } from '@holdfast/contract'
import { encodeRecord } from '../../store/encode.ts'
import { createKeyspace } from '../../store/keys.ts'
import { createRecordIndex } from '../../store/record-index.ts'
import type { Collection } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'

export interface ForeseenStore extends Pick<Store, 'get' | 'list'> {
  put<T>(tenant: TenantId, collection: Collection<T>, id: string, record: T): void
}

export function createForeseenStore(
  store: Pick<Store, 'get' | 'list' | 'keysOf' | 'revision'>,
): ForeseenStore {
  const keyspace = createKeyspace()
  const index = createRecordIndex(keyspace, (key, error) => {
    throw new Error(`what was foreseen at ${key} cannot be read`, { cause: error })
  })
  let revision = store.revision
  const get: ForeseenStore['get'] = (address) =>
    index.get(address.collection, address.tenant, address.id) ?? store.get(address)
  return {
    get,
    list(collection, tenant) {
      // Nothing global is foreseen.
      if (tenant === undefined) return store.list(collection)
      const keys = [...store.keysOf(collection, tenant), ...index.keysOf(collection, tenant)]
      const ids = new Set(keys.map(({ id }) => id))
      return [...ids].flatMap((id) => get({ collection, tenant, id }) ?? [])
    },
    put(tenant, collection, id, record) {
      revision += 1
      const key = keyspace.tenantKey(tenant, collection.folder, id)
      const value = encodeRecord(collection, record)
      index.put({ key, value, createRevision: revision, modRevision: revision, version: 1 })
    },
  }
}
