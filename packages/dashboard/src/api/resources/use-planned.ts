// A change whose effects the server computes before a person confirms it. The effects are computed again when it is
// confirmed; if they differ from those that were shown, they are shown and nothing is changed.

import type { Result } from '@holdfast/client'
import type { Effects } from '@holdfast/contract'
import { type QueryKey, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { explainFailure, type FailureText, requireValue } from '../failure.ts'
import type { Ask } from '../use-act.ts'
import { useWrite, type WriteOutcome } from './use-write.ts'

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
  readonly ask: Ask
}

export interface Planned<T extends DryRun> {
  readonly closed: string | undefined
  /** The answer of the dry run; undefined until it has arrived. */
  readonly answer: T | undefined
  readonly failure: FailureText | undefined
  /** True if the effects changed between the view and the confirmation, so that nothing was done. */
  readonly changed: boolean
  readonly outcome: WriteOutcome
  confirm(): void
}

export function usePlanned<T extends DryRun>(change: PlannedChange<T>): Planned<T> {
  const { queryKey, needs, stale, chosen = true, plan, ask } = change
  const write = useWrite(needs, stale)
  const [changed, setChanged] = useState(false)
  const query = useQuery({
    queryKey,
    enabled: chosen,
    // Records that are not in the change stream count too, so every view computes the effects again.
    staleTime: 0,
    queryFn: async ({ signal }) => requireValue(await plan({ signal })),
  })
  const confirm = async (): Promise<void> => {
    const shown = effectsOf(query.data)
    const { data, isError } = await query.refetch()
    const differs = isError || effectsOf(data) !== shown
    setChanged(differs && !isError)
    if (!differs) write.run(ask)
  }
  return {
    closed: write.closed,
    answer: query.data,
    failure: query.error === null ? undefined : explainFailure(query.error),
    changed,
    outcome: write.outcome,
    confirm: () => void confirm(),
  }
}

const effectsOf = (answer: DryRun | undefined): string => JSON.stringify(answer?.plan.effects)
