// A server replica that receives changes of the store late: its watch is delayed until the test releases it.

import type { KeyValueEngine, WatchEvent } from '@holdfast/server/ports/key-value'

export function createHeldWatch() {
  let held: { deliver: () => void }[] | undefined
  return {
    hold() {
      held = []
    },
    release() {
      const late = held ?? []
      held = undefined
      for (const { deliver } of late) deliver()
    },
    wrap: (engine: KeyValueEngine): KeyValueEngine => ({
      ...engine,
      watch: (request) =>
        engine.watch({
          ...request,
          onEvents(events: readonly WatchEvent[], reached: number) {
            const deliver = () => request.onEvents(events, reached)
            if (held === undefined) deliver()
            else held.push({ deliver })
          },
          onProgress(reached: number) {
            if (held === undefined) request.onProgress(reached)
          },
        }),
    }),
  }
}
