// Finds the current revision of etcd with a linearizable read. Callers that arrive during a read share the next read, so
// a burst of calls needs only two requests to etcd.

import type { KeyValueEngine } from '../../ports/key-value.ts'

export type CurrentRevision = () => Promise<number>

export function createCurrentRevision(engine: Pick<KeyValueEngine, 'range'>, key: string): CurrentRevision {
  let running: Promise<number> | undefined
  let next: Promise<number> | undefined

  const begin = (): Promise<number> => {
    const read = engine.range({ key, countOnly: true }).then(({ revision }) => revision)
    running = read
    const done = (): void => {
      if (running === read) running = undefined
    }
    read.then(done, done)
    return read
  }

  return () => {
    if (running === undefined) return begin()
    next ??= running.then(
      () => startNext(),
      () => startNext(),
    )
    return next
  }

  function startNext(): Promise<number> {
    next = undefined
    return begin()
  }
}
