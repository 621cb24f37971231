// One change of a resource that a person asks for: closed to a role that may not do it, and while the page is old.

import type { Result } from '@holdfast/client'
import { texts } from '../../texts/en.ts'
import { explainFailure, type FailureText } from '../failure.ts'
import { mayDo, useSession } from '../session.tsx'
import { type ActState, type Ask, useAct } from '../use-act.ts'

export type WriteOutcome =
  | { readonly kind: 'idle' | 'running' | 'done' }
  | { readonly kind: 'unknown'; again(): void }
  | { readonly kind: 'failed'; readonly failure: FailureText }

export interface Write {
  /** Why it is closed to this person, or now; undefined if it is open. */
  readonly closed: string | undefined
  readonly outcome: WriteOutcome
  run(ask: Ask): void
}

/** `needs`: the permission. `stale`: whether the shown data may be old, which closes every change. */
export function useWrite(needs: string, stale: boolean): Write {
  const { me } = useSession()
  const { state, run } = useAct()
  const open = stale ? texts.live.closed : undefined
  return {
    closed: mayDo(me, needs) ? open : texts.roles.needs(needs, me.token.role),
    outcome: outcomeOf(state),
    run,
  }
}

const outcomeOf = (state: ActState): WriteOutcome =>
  state.kind === 'failed' ? { kind: 'failed', failure: explainFailure(state.error) } : state

/** Passes the answer on if the request succeeded. */
export const afterSuccess =
  <T>(then: (value: T) => void) =>
  (result: Result<T>): Result<T> => {
    if (result.ok) then(result.value)
    return result
  }
