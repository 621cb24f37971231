// Records of a dry run, which hide the cached records with the same keys and are never written. They are kept as objects
// and not encoded, because a plan of a hundred replicas reads records tens of thousands of times.

import type { TenantId } from '@holdfast/contract'
import type { CachedRecord } from '../../../store/cache/record-index.ts'
import type { Collection } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'

export interface OverlayStore extends Pick<Store, 'get' | 'list'> {
  put<T>(collection: Collection<T>, id: string, record: T): void
}

/** Creates an overlay for the records of one tenant. Global records are always read from the cache. */
export function createOverlayStore(
  store: Pick<Store, 'get' | 'list' | 'keysOf' | 'revision'>,
  owner: TenantId,
): OverlayStore {
  const folders = new Map<string, Map<string, CachedRecord<unknown>>>()
  let revision = store.revision
  const folderOf = ({ folder }: Collection<unknown>) => {
    const known = folders.get(folder) ?? new Map<string, CachedRecord<unknown>>()
    folders.set(folder, known)
    return known
  }
  // Records are added only by `put`, so a folder contains records of one collection only, and the cast is safe.
  const overlaid = <T>(collection: Collection<T>, id: string) =>
    folders.get(collection.folder)?.get(id) as CachedRecord<T> | undefined
  const get: OverlayStore['get'] = (address) => {
    const { collection, tenant, id } = address
    if (tenant !== owner) return store.get(address)
    const known = overlaid(collection, id)
    if (known !== undefined) return known
    const found = store.get(address)
    if (found !== undefined) folderOf(collection).set(id, found)
    return found
  }
  return {
    get,
    list(collection, tenant) {
      const over = folders.get(collection.folder)
      if (tenant !== owner || over === undefined) return store.list(collection, tenant)
      const ids = new Set([...store.keysOf(collection, tenant).map(({ id }) => id), ...over.keys()])
      return [...ids].flatMap((id) => get({ collection, tenant, id }) ?? [])
    },
    put(collection, id, record) {
      revision += 1
      folderOf(collection).set(id, { record, modRevision: revision })
    },
  }
}
