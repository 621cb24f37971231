// An engine whose process dies at its n-th write: before the request left, or after the store took it and before the answer
// came. From then on it hears nothing and nothing of it is heard, as of a process that was killed.

import type { KeyValueEngine, WatchRequest } from '@holdfast/server/ports/key-value'

export interface Mortal {
  wrap(engine: KeyValueEngine): KeyValueEngine
  readonly dead: boolean
  /** Resolves when it dies. */
  readonly death: Promise<void>
}

export type DeathMoment = 'before' | 'after'

const never = <R>(): Promise<R> => new Promise<R>(() => {})

/** `atWrite` counts from 1; 0 never dies. */
export function createMortal(atWrite: number, moment: DeathMoment): Mortal {
  let writes = 0
  let dead = false
  let die = (): void => {}
  const death = new Promise<void>((resolve) => {
    die = resolve
  })
  const alive =
    <A extends unknown[]>(tell: (...given: A) => void) =>
    (...given: A): void => {
      if (!dead) tell(...given)
    }
  const transact = async (engine: KeyValueEngine, ...given: Parameters<KeyValueEngine['transact']>) => {
    if (dead) return never<never>()
    writes += 1
    const dies = writes === atWrite
    if (dies) {
      dead = true
      die()
    }
    if (dies && moment === 'before') return never<never>()
    const answer = await engine.transact(...given)
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
