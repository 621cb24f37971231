// A change whose answer is shown once, such as a new token. No cache keeps the answer, and a lost one cannot be asked for
// again.

import type { Result } from '@holdfast/client'
import { useState } from 'react'
import { CallError, explainFailure, type FailureText } from '../failure.ts'

export type ValueState<T> =
  | { readonly kind: 'idle' | 'running' | 'unknown' }
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'failed'; readonly failure: FailureText }

export function useValueAct<T>(): {
  readonly state: ValueState<T>
  run(ask: () => Promise<Result<T>>): Promise<void>
  /** Forgets the answer. */
  clear(): void
} {
  const [state, setState] = useState<ValueState<T>>({ kind: 'idle' })
  return {
    state,
    async run(ask) {
      setState({ kind: 'running' })
      setState(stateOf(await ask()))
    },
    clear: () => setState({ kind: 'idle' }),
  }
}

function stateOf<T>(result: Result<T>): ValueState<T> {
  if (result.ok) return { kind: 'done', value: result.value }
  return result.failure.kind === 'unreachable'
    ? { kind: 'unknown' }
    : { kind: 'failed', failure: explainFailure(new CallError(result.failure)) }
}
