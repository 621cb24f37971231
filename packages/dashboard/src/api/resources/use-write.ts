// One change of a resource that a person asks for: closed to a role that may not do it, and while the page is old.

import type { Result } from '@holdfast/client'
import { useSession, whyClosed } from '../session.tsx'
import { type ActState, type Ask, useAct } from '../use-act.ts'

export interface Write {
  /** Why it is closed to this person, or now; undefined if it is open. */
  readonly closed: string | undefined
  readonly outcome: ActState
  run(ask: Ask): void
}

/** `needs`: the permission. `stale`: whether the shown data may be old, which closes every change. */
export function useWrite(needs: string, stale: boolean): Write {
  const { me } = useSession()
  const { state, run } = useAct()
  return { closed: whyClosed(me, needs, stale), outcome: state, run }
}

/** Passes the answer on if the request succeeded. */
export const afterSuccess =
  <T>(then: (value: T) => void) =>
  (result: Result<T>): Result<T> => {
    if (result.ok) then(result.value)
    return result
  }
