// One change that a person asked for: asked, done, refused, or unknown. An unknown outcome is asked again with the same
// Idempotency-Key, so that the change happens once.

import type { Failure, Result } from '@holdfast/client'
import { useState } from 'react'
import { CallError, explainFailure, type FailureText } from './failure.ts'

export type ActState =
  | { readonly kind: 'idle' | 'running' | 'done' }
  | { readonly kind: 'failed'; readonly failure: FailureText }
  /** No answer arrived; `again` asks with the key of the first attempt. */
  | { readonly kind: 'unknown'; again(): void }

/** Sends the request with the given Idempotency-Key. */
export type Ask = (idempotencyKey: string) => Promise<Result<unknown>>

export function useAct(): { readonly state: ActState; run(ask: Ask): void } {
  const [state, setState] = useState<ActState>({ kind: 'idle' })
  const attempt = async (ask: Ask, key: string): Promise<void> => {
    setState({ kind: 'running' })
    const result = await ask(key)
    if (result.ok) setState({ kind: 'done' })
    else setState(afterFailure(result.failure, () => void attempt(ask, key)))
  }
  return { state, run: (ask) => void attempt(ask, crypto.randomUUID()) }
}

export function afterFailure(failure: Failure, again: () => void): ActState {
  return failure.kind === 'unreachable'
    ? { kind: 'unknown', again }
    : { kind: 'failed', failure: explainFailure(new CallError(failure)) }
}
