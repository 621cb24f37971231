// A replica that hears of changes late: its watch is held back, and let go when the test says so.

import type { KeyValueEngine, WatchEvent } from '@holdfast/server/ports/key-value'

export function createHeldWatch() {
  let held: { tell: () => void }[] | undefined
  return {
    hold() {
      held = []
    },
    release() {
      const late = held ?? []
      held = undefined
      for (const { tell } of late) tell()
    },
    wrap: (engine: KeyValueEngine): KeyValueEngine => ({
      ...engine,
      watch: (request) =>
        engine.watch({
          ...request,
          onEvents(events: readonly WatchEvent[], reached: number) {
            const tell = () => request.onEvents(events, reached)
            if (held === undefined) tell()
            else held.push({ tell })
          },
          onProgress(reached: number) {
            if (held === undefined) request.onProgress(reached)
          },
        }),
    }),
  }
}
