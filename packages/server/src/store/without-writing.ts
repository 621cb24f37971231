// A store for dry runs: transactions read and decide on current records, and a commit becomes an abort that returns the
// same result (docs/design/admission.md#dry-runs).

import type { Store, TransactionDecision } from './store.ts'

export function withoutWriting(store: Store): Store {
  return {
    ...store,
    get revision() {
      return store.revision
    },
    transact: (decide) => store.transact((transaction) => abortInstead(decide(transaction))),
  }
}

const abortInstead = <R>(decision: TransactionDecision<R>): TransactionDecision<R> =>
  decision.kind === 'commit' ? { kind: 'abort', result: decision.result } : decision
