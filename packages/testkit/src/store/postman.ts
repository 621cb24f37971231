// A key-value client between the store and a real etcd that loses messages: responses that never arrive, requests that
// never arrive, and requests that arrive late, after the sender was informed of an unknown outcome.

import { EngineError, type KeyValueEngine, type TransactionRequest } from '@holdfast/server/ports/key-value'

export type Fate = 'delivered' | 'answer lost' | 'request lost' | 'late'

export interface Postman {
  wrap(engine: KeyValueEngine): KeyValueEngine
  readonly fates: { readonly [F in Fate]: number }
  /** Number of delayed requests that have not been delivered yet. */
  held(): number
  /** Delivers the delayed requests; returns how many of their transactions were applied. */
  deliverHeld(): Promise<number>
}

export function createPostman(chooseFate: () => Fate): Postman {
  const fates = { delivered: 0, 'answer lost': 0, 'request lost': 0, late: 0 }
  let held: (() => Promise<number>)[] = []
  const lost = () => new EngineError('deadline', 'unknown', 'the response never arrived')
  return {
    fates,
    held: () => held.length,
    async deliverHeld() {
      const late = held
      held = []
      const applied = await Promise.all(late.map((deliver) => deliver()))
      return applied.reduce((sum, count) => sum + count, 0)
    },
    wrap: (engine) => ({
      ...engine,
      async transact(request, options) {
        const fate = chooseFate()
        fates[fate] += 1
        if (fate === 'late') held.push(() => deliver(engine, request))
        if (fate === 'late' || fate === 'request lost') throw lost()
        const result = await engine.transact(request, options)
        if (fate === 'answer lost') throw lost()
        return result
      },
    }),
  }
}

async function deliver(engine: KeyValueEngine, request: TransactionRequest): Promise<number> {
  const { succeeded, results } = await engine.transact(request)
  const nested = results.flatMap((one) => (one.kind === 'transaction' ? [one.transaction.succeeded] : []))
  return nested.length > 0 ? nested.filter(Boolean).length : Number(succeeded)
}
