// An engine as a process that stands still sees it: while paused nothing that it asks leaves and nothing that it was
// answered arrives; afterwards all of it does, late, in order.

import type { KeyValueEngine } from '@holdfast/server/ports/key-value'

export interface Pausable {
  wrap(engine: KeyValueEngine): KeyValueEngine
  /** With `writes` it hears on and only what it asks waits. */
  pause(what?: 'everything' | 'writes'): void
  resume(): void
}

export function createPausable(): Pausable {
  let standing: Promise<void> = Promise.resolve()
  let deaf = false
  let goOn = (): void => {}
  const late: (() => void)[] = []
  const deliver = (tell: () => void): void => {
    if (deaf) late.push(tell)
    else tell()
  }
  const delayed = async <R>(call: () => Promise<R>): Promise<R> => {
    await standing
    const answer = await call()
    await standing
    return answer
  }
  return {
    pause(what = 'everything') {
      deaf = what === 'everything'
      standing = new Promise((resolve) => {
        goOn = resolve
      })
    },
    resume() {
      deaf = false
      for (const tell of late.splice(0)) tell()
      goOn()
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
