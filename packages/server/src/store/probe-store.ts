// Is the key-value store there, and has this replica caught up with it? Asked by anybody, so asked of the engine at most
// once at a time, and answered within seconds: whoever watches health must not wait as long as a write may. SPEC 4.

import { withDeadline } from '../lib/with-deadline.ts'
import type { KeyValueEngine } from '../ports/key-value.ts'
import type { Store } from './store.ts'

export interface StoreProbe {
  /** Whether the engine answers a linearizable read now. */
  connected(): Promise<boolean>
  /** Whether, beside that, the cache shows all that was acknowledged before. */
  caughtUp(): Promise<boolean>
}

/** Enough for three members one after another, of which two are silent. */
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

/** Whoever asks while the question is under way gets its answer. */
function shared(ask: () => Promise<boolean>): () => Promise<boolean> {
  let running: Promise<boolean> | undefined
  return () => {
    running ??= ask().finally(() => {
      running = undefined
    })
    return running
  }
}
