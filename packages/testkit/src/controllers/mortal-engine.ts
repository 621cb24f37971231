// A key-value store client that acts as if its process died at its n-th write: before the request is sent, or after the
// store has applied the write and before the response arrives. Afterwards no message is sent or received, as in a killed
// process.

import type { KeyValueEngine, WatchRequest } from '@holdfast/server/ports/key-value'

export interface Mortal {
  wrap(engine: KeyValueEngine): KeyValueEngine
  readonly dead: boolean
  /** Resolves when the simulated process dies. */
  readonly death: Promise<void>
}

export type DeathMoment = 'before' | 'after'

const never = <R>(): Promise<R> => new Promise<R>(() => {})

/** Creates a client that dies at its write number `atWrite`, counted from 1; 0 means that it never dies. */
export function createMortal(atWrite: number, moment: DeathMoment): Mortal {
  let writes = 0
  let dead = false
  let die = (): void => {}
  const death = new Promise<void>((resolve) => {
    die = resolve
  })
  const alive =
    <A extends unknown[]>(handle: (...parameters: A) => void) =>
    (...parameters: A): void => {
      if (!dead) handle(...parameters)
    }
  const transact = async (engine: KeyValueEngine, ...parameters: Parameters<KeyValueEngine['transact']>) => {
    if (dead) return never<never>()
    writes += 1
    const dies = writes === atWrite
    if (dies) {
      dead = true
      die()
    }
    if (dies && moment === 'before') return never<never>()
    const answer = await engine.transact(...parameters)
    return dead ? never<never>() : answer
  }
  const deafened = (request: WatchRequest): WatchRequest => ({
    ...request,
    onEvents: alive(request.onEvents.bind(request)),
    onProgress: alive(request.onProgress.bind(request)),
    onCompacted: alive(request.onCompacted.bind(request)),
  })
  return {
    death,
    get dead() {
      return dead
    },
    wrap: (engine) => ({
      ...engine,
      range: async (request, options) => {
        if (dead) return never<never>()
        const answer = await engine.range(request, options)
        return dead ? never<never>() : answer
      },
      transact: (request, options) => transact(engine, request, options),
      watch: (request) => engine.watch(deafened(request)),
    }),
  }
}
