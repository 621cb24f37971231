// Detects that etcd was restored from a backup while this server runs
// (docs/design/store.md#restored-store). A linearizable response must not be older than the highest
// revision that this process knew when it sent the request. If the response is older, the cache
// describes a history that no longer exists, and the server must neither answer nor write.

import type { KeyValueEngine } from '../ports/key-value.ts'
import { StoreUnavailableError } from './unavailable.ts'

export type OnWentBack = (known: number, found: number) => void

export interface HistoryGuard {
  /** The engine that guardHistory received, with a check of the revision of each linearizable response. */
  readonly engine: KeyValueEngine
  /** Throws if etcd has ever answered with a lower revision than before; only a restart of the server ends this state. */
  require(): void
}

/** `onWentBack` is called once, when etcd first answers with a lower revision than this process already knew. */
export function guardHistory(engine: KeyValueEngine, onWentBack: OnWentBack = () => {}): HistoryGuard {
  let known = 0
  let fault: string | undefined
  const learn = (revision: number): void => {
    known = Math.max(known, revision)
  }
  const check = (before: number, found: number): void => {
    if (found >= before) learn(found)
    if (found >= before || fault !== undefined) return
    fault = `etcd went back from revision ${before} to ${found}, as after a restore from a backup; restart this server`
    onWentBack(before, found)
  }
  /**
   * Checks a response. The known revision is read before the request is sent, because responses may arrive in any order.
   */
  const checked = async <T extends { readonly revision: number }>(call: () => Promise<T>): Promise<T> => {
    const before = known
    const response = await call()
    check(before, response.revision)
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
    require() {
      if (fault !== undefined) throw new StoreUnavailableError(fault)
    },
  }
}
