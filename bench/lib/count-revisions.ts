// Counts the revisions of etcd by the folder of the changed records, from a watch over all keys.

import type { KeyValueEngine } from '@holdfast/server/ports/key-value'
import { createKeyspace } from '@holdfast/server/store/keys'

export interface CountedRevisions {
  /** Revisions that changed a record of a tenant. */
  readonly ofTenants: number
  /** Numbers of changed keys by folder. Folders of tenants begin with `tenant/`. */
  readonly byFolder: ReadonlyMap<string, number>
}

/** Counts from now on. The returned function ends the count once all events up to that moment have arrived. */
export async function countRevisions(engine: KeyValueEngine): Promise<() => Promise<CountedRevisions>> {
  const keyspace = createKeyspace()
  const ofTenants = new Set<number>()
  const byFolder = new Map<string, number>()
  const revisionNow = async (): Promise<number> => (await engine.range({ key: 'nothing' })).revision
  let seen = await revisionNow()
  const watch = engine.watch({
    ...keyspace.everything(),
    startRevision: seen + 1,
    onEvents(events, revision) {
      seen = revision
      for (const { kv } of events) {
        const { tenant, folder = 'unknown' } = keyspace.parse(kv.key) ?? {}
        const name = tenant === undefined ? folder : `tenant/${folder}`
        byFolder.set(name, (byFolder.get(name) ?? 0) + 1)
        if (tenant !== undefined) ofTenants.add(kv.modRevision)
      }
    },
    onProgress(revision) {
      seen = Math.max(seen, revision)
    },
    onCompacted() {
      throw new Error('the history of etcd was compacted during the measurement')
    },
  })
  return async () => {
    const last = await revisionNow()
    while (seen < last) {
      watch.requestProgress()
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    watch.close()
    return { ofTenants: ofTenants.size, byFolder }
  }
}
