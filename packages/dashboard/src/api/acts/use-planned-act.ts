// A change whose effects a person has seen. It is planned once more before it is sent: a plan that has changed is shown, and
// nothing is done.

import type { Result } from '@holdfast/client'
import type { Effects } from '@holdfast/contract'
import { useState } from 'react'
import { type ActState, type Ask, useAct } from '../use-act.ts'

export type PlannedState = ActState | { readonly kind: 'changed' }

export interface PlannedAct {
  /** The effects that the person saw; absent for a change without effects on what runs. */
  readonly shown?: Effects | undefined
  plan(): Promise<Result<Effects>>
  /** Shows the effects that are valid now. */
  onChanged(effects: Effects): void
  readonly ask: Ask
}

export function usePlannedAct(): { readonly state: PlannedState; run(act: PlannedAct): Promise<void> } {
  const { state, run } = useAct()
  const [changed, setChanged] = useState(false)
  return {
    state: changed ? { kind: 'changed' } : state,
    async run({ shown, plan, onChanged, ask }) {
      setChanged(false)
      const planned = shown === undefined ? undefined : await plan()
      // A plan that fails is no reason to stop: the server decides the change itself and explains its refusal.
      if (planned?.ok === true && shown !== undefined && !isSame(planned.value, shown)) {
        onChanged(planned.value)
        setChanged(true)
        return
      }
      run(ask)
    },
  }
}

const isSame = (left: Effects, right: Effects): boolean => JSON.stringify(left) === JSON.stringify(right)

export const effectsOf = (
  result: Result<{ readonly plan: { readonly effects: Effects } }>,
): Result<Effects> => (result.ok ? { ok: true, value: result.value.plan.effects } : result)
