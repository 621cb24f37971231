// Is the key-value store there, and has this replica caught up with it? Asked by anybody, so asked of the engine at most
// once at a time, and answered within seconds: whoever watches health must not wait as long as a write may. SPEC 4.

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
    caughtUp: shared(() => isDone(withDeadline(PROBE_MS, store.fresh()))),
  }
}

function isDone(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  )
}

async function withDeadline(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), ms)
  })
  await Promise.race([work, late]).finally(() => clearTimeout(timer))
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
