// Health probes: whether etcd answers, and whether this server replica has caught up with etcd. Any client may ask, so
// concurrent requests share one probe, and a probe is shorter than the deadline of a write (docs/design/api.md#health).

import { withDeadline } from '../lib/with-deadline.ts'
import type { KeyValueEngine } from '../ports/key-value.ts'
import type { Store } from './store.ts'

export interface StoreProbe {
  /** Whether etcd answers a linearizable read now. */
  connected(): Promise<boolean>
  /** Whether etcd answers and the cache contains every write that was acknowledged before this call. */
  caughtUp(): Promise<boolean>
}

/** Deadline of a probe: enough to try three etcd members one after another if two of them do not answer. */
const PROBE_MS = 2_500

export function createStoreProbe(
  engine: Pick<KeyValueEngine, 'range'>,
  store: Pick<Store, 'fresh' | 'keyspace'>,
): StoreProbe {
  const key = store.keyspace.globalKey('fresh', 'health')
  return {
    connected: shared(() => isDone(engine.range({ key, countOnly: true }, { deadlineMs: PROBE_MS }))),
    caughtUp: shared(() => withDeadline(PROBE_MS, isDone(store.fresh()), () => false)),
  }
}

function isDone(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  )
}

/** Shares a probe: calls made while a probe is in progress get the result of that probe. */
function shared(ask: () => Promise<boolean>): () => Promise<boolean> {
  let running: Promise<boolean> | undefined
  return () => {
    running ??= ask().finally(() => {
      running = undefined
    })
    return running
  }
}
