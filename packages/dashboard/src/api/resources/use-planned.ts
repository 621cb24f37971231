// A change whose effects the server computes before a person confirms it. The effects are computed again when it is
// confirmed; if they differ from those that were shown, they are shown and nothing is changed.

import type { Result } from '@holdfast/client'
import type { Effects } from '@holdfast/contract'
import { type QueryKey, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { explainFailure, type FailureText, requireValue } from '../failure.ts'
import type { ActState, Ask } from '../use-act.ts'
import { useWrite } from './use-write.ts'

interface DryRun {
  readonly plan: { readonly effects: Effects }
}

export interface PlannedChange<T extends DryRun> {
  readonly queryKey: QueryKey
  readonly needs: string
  readonly stale: boolean
  /** False while the change is not chosen yet. */
  readonly chosen?: boolean
  plan(options: { readonly signal: AbortSignal }): Promise<Result<T>>
  /** Sends the change that the person has confirmed. `shown` is the plan that the person read. */
  ask(idempotencyKey: string, shown: T): ReturnType<Ask>
}

export interface Planned<T extends DryRun> {
  readonly closed: string | undefined
  /** The answer of the dry run; undefined until it has arrived. */
  readonly answer: T | undefined
  readonly failure: FailureText | undefined
  /** `changed`: the effects differ from those that the person read, so nothing was done. */
  readonly outcome: ActState | { readonly kind: 'changed' }
  confirm(): void
}

export function usePlanned<T extends DryRun>(change: PlannedChange<T>): Planned<T> {
  const { queryKey, needs, stale, chosen = true, plan, ask } = change
  const write = useWrite(needs, stale)
  const [check, setCheck] = useState<'none' | 'running' | 'changed'>('none')
  const query = useQuery({
    queryKey,
    enabled: chosen,
    // Records that are not in the change stream count too, so every view computes the effects again.
    staleTime: 0,
    queryFn: async ({ signal }) => requireValue(await plan({ signal })),
  })
  const confirm = async (): Promise<void> => {
    const shown = query.data
    setCheck('running')
    const { data, isError } = await query.refetch()
    const differs = isError || effectsOf(data) !== effectsOf(shown)
    setCheck(differs && !isError ? 'changed' : 'none')
    if (!differs && shown !== undefined) write.run((key) => ask(key, shown))
  }
  return {
    closed: write.closed,
    answer: query.data,
    failure: query.error === null ? undefined : explainFailure(query.error),
    outcome: check === 'none' ? write.outcome : { kind: check },
    confirm: () => void confirm(),
  }
}

const effectsOf = (answer: DryRun | undefined): string => JSON.stringify(answer?.plan.effects)
