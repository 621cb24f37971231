// Finds the current revision of etcd with a linearizable read of one key. Callers that arrive during a read share the next
// read, so a burst of calls needs only two requests to etcd.

import type { KeyValue, KeyValueEngine } from '../../ports/key-value.ts'

export type CurrentRevision = () => Promise<number>

/** `onRead` is called with each value of the key that was read. */
export function createCurrentRevision(
  engine: Pick<KeyValueEngine, 'range'>,
  key: string,
  onRead: (found: KeyValue | undefined) => void = () => {},
): CurrentRevision {
  let running: Promise<number> | undefined
  let next: Promise<number> | undefined

  const begin = (): Promise<number> => {
    const read = engine.range({ key }).then(({ kvs, revision }) => {
      onRead(kvs[0])
      return revision
    })
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
