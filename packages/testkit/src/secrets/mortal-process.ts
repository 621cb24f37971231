// Simulates a process that dies at its n-th call to etcd or the secrets store: before the request is sent, or after the
// store has applied it and before the response arrives. Other requests in flight may or may not arrive; their responses
// are lost.

import type { KeyValueEngine, WatchRequest } from '@holdfast/server/ports/key-value'
import type { SecretsWriter } from '@holdfast/server/ports/secrets-store'
import type { DeathMoment } from '../controllers/mortal-engine.ts'

export type StoreCalls = Pick<SecretsWriter, 'currentVersion' | 'writeVersion' | 'destroyVersion'>

export interface MortalProcess {
  wrapEngine(engine: KeyValueEngine): KeyValueEngine
  wrapSecrets(secrets: StoreCalls): StoreCalls
  /** Starts to count calls to etcd and the secrets store; calls made before are not counted. */
  arm(): void
  /** Resolves when the simulated process is dead and all requests that it had sent are answered. */
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
    <A extends unknown[]>(handle: (...parameters: A) => void) =>
    (...parameters: A): void => {
      if (!dead) handle(...parameters)
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
      range: (...parameters) => call(() => engine.range(...parameters)),
      transact: (...parameters) => call(() => engine.transact(...parameters)),
      watch: (request) => engine.watch(deafened(request)),
    }),
    wrapSecrets: (secrets) => ({
      currentVersion: (...parameters) => call(() => secrets.currentVersion(...parameters)),
      writeVersion: (...parameters) => call(() => secrets.writeVersion(...parameters)),
      destroyVersion: (...parameters) => call(() => secrets.destroyVersion(...parameters)),
    }),
  }
}
