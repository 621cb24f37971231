// A store as in one server replica, with counters for tests: relists, lost responses, unreadable records.

import { createEtcdClient, type EtcdClientOptions } from '@holdfast/server/adapters/etcd/create-etcd-client'
import { EngineError, type KeyValueEngine } from '@holdfast/server/ports/key-value'
import { openStore, type Store, type StoreOptions } from '@holdfast/server/store/store'
import { realClock as clock, realIds as ids } from '@holdfast/server/system-clock'
import { connectControllerEngine } from '../controllers/controller-engine.ts'
import { connectInMemory, MEMORY_ENDPOINT } from '../platform/connect-store.ts'

export interface TestStore {
  readonly store: Store
  readonly engine: KeyValueEngine
  readonly counts: Counts
  readonly unreadable: string[]
  close(): void
}

interface Counts {
  /** Number of times that the watched history was compacted and the store listed all keys again. */
  relists: number
  /** Number of times that a watch stream was lost and resumed. */
  resumes: number
  /** Number of transactions whose outcome the store could not determine. */
  unknown: number
}

export interface TestStoreOptions extends Partial<Omit<StoreOptions, 'engine'>> {
  /**
   * Endpoints of etcd, or those of a platform in memory. If absent, the store of the controller tests is used
   * (controllers/controller-engine.ts).
   */
  readonly endpoints?: readonly string[]
  readonly root: string
  readonly client?: Partial<EtcdClientOptions>
  /** Wraps the key-value client that the store uses. */
  readonly wrap?: (engine: KeyValueEngine) => KeyValueEngine
}

export async function openTestStore(options: TestStoreOptions): Promise<TestStore> {
  const { endpoints, client, wrap = (engine) => engine, ...storeOptions } = options
  const counts: Counts = { relists: 0, resumes: 0, unknown: 0 }
  const onWatchResumed = () => {
    counts.resumes += 1
  }
  const engine =
    endpoints === undefined
      ? await connectControllerEngine(options.root)
      : connectPlain({ endpoints, onWatchResumed, ...client }, options.root)
  const unreadable: string[] = []
  const onUnreadable = (key: string) => unreadable.push(key)
  const store = await openStore({
    engine: counting(wrap(engine), counts),
    clock,
    ids,
    onUnreadable,
    ...storeOptions,
  })
  const close = () => {
    store.close()
    engine.close()
  }
  return { store, engine, counts, unreadable, close }
}

const connectPlain = (options: EtcdClientOptions, root: string): KeyValueEngine =>
  options.endpoints.includes(MEMORY_ENDPOINT) ? connectInMemory(root) : createEtcdClient(options)

function counting(engine: KeyValueEngine, counts: Counts): KeyValueEngine {
  return {
    ...engine,
    transact: (request, options) =>
      engine.transact(request, options).catch((error: unknown) => {
        if (error instanceof EngineError && error.applied === 'unknown') counts.unknown += 1
        throw error
      }),
    watch: (request) =>
      engine.watch({
        ...request,
        onCompacted(revision) {
          counts.relists += 1
          request.onCompacted(revision)
        },
      }),
  }
}
