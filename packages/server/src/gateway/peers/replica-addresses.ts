// Remembers the addresses of the other server replicas. One that lost the store has no heartbeat, but this replica must find
// it when it reaches the store again and this replica does not. See docs/design/liveness.md#cut-off

import type { Change } from '../../store/cache/record-index.ts'
import { serverReplicas } from '../../store/records.ts'
import { globally } from '../../store/transaction.ts'
import type { GatewayDeps } from '../deps.ts'

export interface ReplicaAddresses {
  apply(changes: readonly Change[], now: number): void
  /** The addresses of server replicas with a heartbeat now or within the last hour, each once. */
  known(now: number): string[]
}

const KEPT_MS = 3_600_000
/** Servers that get another address at each start must not fill the memory. */
const MOST = 64

export function createReplicaAddresses(
  { store, replica }: Pick<GatewayDeps, 'store' | 'replica'>,
  now: number,
): ReplicaAddresses {
  const seenAt = new Map<string, number>()
  const note = (id: string, at: number): void => {
    const url = store.get(globally(serverReplicas, id))?.record.url
    if (url === undefined || id === replica) return
    // The address that was seen last is the last one of the map.
    seenAt.delete(url)
    seenAt.set(url, at)
    const [oldest] = seenAt.keys()
    if (seenAt.size > MOST && oldest !== undefined) seenAt.delete(oldest)
  }
  for (const { id } of store.listWithIds(serverReplicas)) note(id, now)
  return {
    apply(changes, at) {
      for (const { kind, key } of changes)
        if (kind === 'put' && key.tenant === undefined && key.folder === serverReplicas.folder)
          note(key.id, at)
    },
    known: (at) => [...seenAt].flatMap(([url, seen]) => (at - seen < KEPT_MS ? [url] : [])),
  }
}
