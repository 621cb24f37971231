// A copy of the stored records, updated with every write to the store. Invariants are checked against this copy, never
// against the cache of a server.

import { decodeRecord } from '@holdfast/server/store/encode'
import { createKeyspace, type ParsedKey } from '@holdfast/server/store/keys'
import {
  type Collection,
  deployments,
  events,
  jobs,
  networks,
  nodeNames,
  nodes,
  observations,
  placements,
  shards,
  slots,
  tenants,
  volumes,
  volumeWriters,
} from '@holdfast/server/store/records'
import type { KeyWrite } from '../memory/keyspace.ts'
import type { Kept, Snapshot } from './snapshot.ts'

interface Folder<T> {
  readonly name: string
  put(key: ParsedKey, write: KeyWrite): Kept<T>
  delete(key: string): void
  list(): readonly Kept<T>[]
}

function createFolder<T>(collection: Collection<T>): Folder<T> {
  const kept = new Map<string, Kept<T>>()
  let listed: readonly Kept<T>[] | undefined
  return {
    name: collection.folder,
    put({ tenant, id }, { key, revision, bytes }) {
      const one = { tenant, id, modRevision: revision, record: decodeRecord(collection, bytes) }
      kept.set(key, one)
      listed = undefined
      return one
    },
    delete(key) {
      kept.delete(key)
      listed = undefined
    },
    list() {
      listed ??= [...kept.values()]
      return listed
    },
  }
}

export type Records = Pick<
  Snapshot,
  | 'tenants'
  | 'deployments'
  | 'placements'
  | 'observations'
  | 'nodes'
  | 'nodeNames'
  | 'slots'
  | 'shards'
  | 'volumes'
  | 'volumeWriters'
  | 'jobs'
  | 'networks'
  | 'events'
>

export interface Mirror {
  /** Applies a write to the copy of the records. Returns false if the write cannot affect an invariant. */
  apply(write: KeyWrite): boolean
  records(): Records
}

/** Creates an empty copy of the stored records that calls `onEvent` for each stored event. */
export function createMirror(onEvent: (event: Snapshot['events'][number]) => void): Mirror {
  const keyspace = createKeyspace()
  const eventFolder = createFolder(events)
  const folders = {
    tenants: createFolder(tenants),
    deployments: createFolder(deployments),
    placements: createFolder(placements),
    observations: createFolder(observations),
    nodes: createFolder(nodes),
    nodeNames: createFolder(nodeNames),
    slots: createFolder(slots),
    shards: createFolder(shards),
    volumes: createFolder(volumes),
    volumeWriters: createFolder(volumeWriters),
    jobs: createFolder(jobs),
    networks: createFolder(networks),
    events: eventFolder,
  }
  const byName = new Map(Object.values(folders).map((folder) => [folder.name, folder]))
  return {
    apply(write) {
      const parsed = keyspace.parse(write.key)
      const folder = parsed && byName.get(parsed.folder)
      if (parsed === undefined || folder === undefined) return false
      if (write.kind === 'delete') folder.delete(write.key)
      else if (folder === eventFolder) onEvent(eventFolder.put(parsed, write))
      else folder.put(parsed, write)
      return true
    },
    records: () => ({
      tenants: folders.tenants.list(),
      deployments: folders.deployments.list(),
      placements: folders.placements.list(),
      observations: folders.observations.list(),
      nodes: folders.nodes.list(),
      nodeNames: folders.nodeNames.list(),
      slots: folders.slots.list(),
      shards: folders.shards.list(),
      volumes: folders.volumes.list(),
      volumeWriters: folders.volumeWriters.list(),
      jobs: folders.jobs.list(),
      networks: folders.networks.list(),
      events: folders.events.list(),
    }),
  }
}
