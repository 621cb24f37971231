// A process that dies at its n-th call of either store: before the request left, or after the store took it and before the
// answer came. What else was under way then may arrive or not; nothing of it is heard.

import type { KeyValueEngine, WatchRequest } from '@holdfast/server/ports/key-value'
import type { SecretsWriter } from '@holdfast/server/ports/secrets-store'
import type { DeathMoment } from '../controllers/mortal-engine.ts'

export type StoreCalls = Pick<SecretsWriter, 'currentVersion' | 'writeVersion' | 'destroyVersion'>

export interface MortalProcess {
  wrapEngine(engine: KeyValueEngine): KeyValueEngine
  wrapSecrets(secrets: StoreCalls): StoreCalls
  /** Calls count from now on. */
  arm(): void
  /** Resolves when it is dead and the stores have answered all that it had sent. */
  readonly death: Promise<void>
}

const never = <R>(): Promise<R> => new Promise<R>(() => {})

export function createMortalProcess(atCall: number, moment: DeathMoment): MortalProcess {
  const underWay = new Set<Promise<unknown>>()
  let [armed, dead, calls] = [false, false, 0]
  let die = (): void => {}
  const dying = new Promise<void>((resolve) => {
    die = resolve
  })
  const call = async <R>(send: () => Promise<R>): Promise<R> => {
    if (dead) return never()
    if (armed) calls += 1
    const dies = armed && calls === atCall
    dead = dies
    if (dies && moment === 'before') {
      die()
      return never()
    }
    const sent = send()
    underWay.add(sent)
    if (dies) die()
    const answer = await sent.finally(() => underWay.delete(sent))
    return dead ? never() : answer
  }
  const alive =
    <A extends unknown[]>(tell: (...given: A) => void) =>
    (...given: A): void => {
      if (!dead) tell(...given)
    }
  const deafened = (request: WatchRequest): WatchRequest => ({
    ...request,
    onEvents: alive(request.onEvents.bind(request)),
    onProgress: alive(request.onProgress.bind(request)),
    onCompacted: alive(request.onCompacted.bind(request)),
  })
  return {
    death: dying.then(async () => {
      await Promise.allSettled(underWay)
    }),
    arm() {
      armed = true
    },
    wrapEngine: (engine) => ({
      ...engine,
      range: (...given) => call(() => engine.range(...given)),
      transact: (...given) => call(() => engine.transact(...given)),
      watch: (request) => engine.watch(deafened(request)),
    }),
    wrapSecrets: (secrets) => ({
      currentVersion: (...given) => call(() => secrets.currentVersion(...given)),
      writeVersion: (...given) => call(() => secrets.writeVersion(...given)),
      destroyVersion: (...given) => call(() => secrets.destroyVersion(...given)),
    }),
  }
}
