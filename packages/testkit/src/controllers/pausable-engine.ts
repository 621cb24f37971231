// A key-value store client as in a stopped process: while paused, no request leaves and no response arrives. After the
// pause all requests and responses are delivered, late and in order.

import type { KeyValueEngine } from '@holdfast/server/ports/key-value'

export interface Pausable {
  wrap(engine: KeyValueEngine): KeyValueEngine
  /** Pauses the client. With `writes`, only requests wait, and watch events still arrive; with `events`, only these wait. */
  pause(what?: 'everything' | 'writes' | 'events'): void
  resume(): void
}

export function createPausable(): Pausable {
  let paused: Promise<void> = Promise.resolve()
  let holdsEvents = false
  let continuePaused = (): void => {}
  const late: (() => void)[] = []
  const deliver = (deliverNow: () => void): void => {
    if (holdsEvents) late.push(deliverNow)
    else deliverNow()
  }
  const delayed = async <R>(call: () => Promise<R>): Promise<R> => {
    await paused
    const answer = await call()
    await paused
    return answer
  }
  return {
    pause(what = 'everything') {
      holdsEvents = what !== 'writes'
      if (what === 'events') return
      paused = new Promise((resolve) => {
        continuePaused = resolve
      })
    },
    resume() {
      holdsEvents = false
      for (const deliverNow of late.splice(0)) deliverNow()
      continuePaused()
    },
    wrap: (engine) => ({
      ...engine,
      range: (request, options) => delayed(() => engine.range(request, options)),
      transact: (request, options) => delayed(() => engine.transact(request, options)),
      watch: (request) =>
        engine.watch({
          ...request,
          onEvents: (events, revision) => deliver(() => request.onEvents(events, revision)),
          onProgress: (revision) => deliver(() => request.onProgress(revision)),
          onCompacted: (revision) => deliver(() => request.onCompacted(revision)),
        }),
    }),
  }
}
