// The store for somebody who only tries: everything is read and decided as in earnest, on a current view, and what would be
// committed is only said. DECISIONS 1 (dry run of any write).

import type { Decision, Store } from './store.ts'

export function withoutWriting(store: Store): Store {
  return {
    ...store,
    get revision() {
      return store.revision
    },
    transact: (decide) => store.transact((transaction) => onlySaid(decide(transaction))),
  }
}

/** A refusal is what a transaction confirms and does not write. */
const onlySaid = <R>(decision: Decision<R>): Decision<R> =>
  decision.kind === 'commit' ? { kind: 'abort', result: decision.result } : decision
