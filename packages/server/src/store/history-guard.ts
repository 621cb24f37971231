// Detects that etcd was restored from a backup while this server runs
// (docs/design/restored-stores.md#servers). A linearizable response must not be older than the highest
// revision that this process knew when it sent the request, and every response must come from the same
// cluster. Otherwise the cache describes a history that no longer exists, and the server must neither
// answer nor write.

import type { KeyValueEngine } from '../ports/key-value.ts'
import { type OnRestored, RestoredStoreError } from './restored.ts'
import { StoreUnavailableError } from './unavailable.ts'

export interface HistoryGuard {
  /** The engine that guardHistory received, with a check of each linearizable response. */
  readonly engine: KeyValueEngine
  /** The id of the cluster that answered first; undefined if nothing has answered or the engine has no such id. */
  readonly clusterId: string | undefined
  /** Records a fault that another check has found. Only the first fault is kept and reported. */
  fail(error: RestoredStoreError): void
  /** Throws after a fault; only a restart of the server ends this state. */
  require(): void
  /** The text of the fault; undefined while the history is the known one. */
  readonly fault: string | undefined
}

interface Answered {
  readonly revision: number
  readonly clusterId?: string
}

/** `onRestored` is called once, with the first fault. */
export function guardHistory(engine: KeyValueEngine, onRestored: OnRestored = () => {}): HistoryGuard {
  let known = 0
  let cluster: string | undefined
  let fault: string | undefined
  const learn = (revision: number): void => {
    known = Math.max(known, revision)
  }
  const fail = (error: RestoredStoreError): void => {
    if (fault !== undefined) return
    fault = error.message
    onRestored(error)
  }
  const check = (before: number, { revision, clusterId }: Answered): void => {
    cluster ??= clusterId
    if (clusterId !== undefined && clusterId !== cluster)
      fail(new RestoredStoreError(`etcd answered as cluster ${clusterId} and was cluster ${cluster} before`))
    else if (revision >= before) learn(revision)
    else fail(new RestoredStoreError(`etcd went back from revision ${before} to ${revision}`))
  }
  /**
   * Checks a response. The known revision is read before the request is sent, because responses may arrive in any order.
   */
  const checked = async <T extends Answered>(call: () => Promise<T>): Promise<T> => {
    const before = known
    const response = await call()
    check(before, response)
    return response
  }
  return {
    engine: {
      // A serializable read is not checked, because an etcd member that lags behind may answer with an older revision.
      range: (request, options) =>
        request.serializable === true
          ? engine.range(request, options)
          : checked(() => engine.range(request, options)),
      transact: (request, options) => checked(() => engine.transact(request, options)),
      watch: (request) =>
        engine.watch({
          ...request,
          onEvents(events, revision) {
            learn(revision)
            request.onEvents(events, revision)
          },
          onProgress(revision) {
            learn(revision)
            request.onProgress(revision)
          },
        }),
      compact: (revision, options) => engine.compact(revision, options),
      status: (options) => engine.status(options),
      close: () => engine.close(),
    },
    get clusterId() {
      return cluster
    },
    get fault() {
      return fault
    },
    fail,
    require() {
      if (fault !== undefined) throw new StoreUnavailableError(fault)
    },
  }
}
