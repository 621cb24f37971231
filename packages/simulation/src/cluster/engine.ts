// The store as one simulated process sees it. A sent request is applied even if the process dies. An answer reaches only
// a live process; a paused process receives the answer after the pause.

import type { KeyValueEngine } from '@holdfast/server/ports/key-value'
import type { SimulatedProcess, VirtualTime } from '../time/virtual-time.ts'

export function engineFor(
  time: VirtualTime,
  process: SimulatedProcess,
  engine: KeyValueEngine,
): KeyValueEngine {
  const ask = <R>(call: () => Promise<R>): Promise<R> =>
    new Promise((resolve, reject) => {
      time.outside(call).then(
        (answer) => time.deliver(process, () => resolve(answer)),
        (error: unknown) => time.deliver(process, () => reject(error)),
      )
    })
  return {
    range: (request, options) => ask(() => engine.range(request, options)),
    transact: (request, options) => ask(() => engine.transact(request, options)),
    compact: (revision, options) => ask(() => engine.compact(revision, options)),
    status: (options) => ask(() => engine.status(options)),
    watch(request) {
      const watch = time.outside(() =>
        engine.watch({
          ...request,
          onEvents: (events, revision) => time.deliver(process, () => request.onEvents(events, revision)),
          onProgress: (revision) => time.deliver(process, () => request.onProgress(revision)),
          onCompacted: (revision) => time.deliver(process, () => request.onCompacted(revision)),
        }),
      )
      return { requestProgress: () => time.outside(watch.requestProgress), close: watch.close }
    },
    close: engine.close,
  }
}
