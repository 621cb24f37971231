// Deployments of which a replica fits nowhere, by the kind of change that may cure them: such a change wakes exactly those.
// DESIGN 4: retried when an event arrives that one of its refusals waits for, not by polling.

import type { RetryTrigger } from '@holdfast/core'

export interface WaitingList {
  wait(name: string, cures: readonly RetryTrigger[], goesWithOthers: boolean): void
  forget(name: string): void
  curedBy(kind: RetryTrigger): string[]
  /** Replicas only came: that helps nobody but those that go with others. */
  curedByGrowth(): string[]
}

export function createWaitingList(): WaitingList {
  const waiting = new Map<
    string,
    { readonly cures: readonly RetryTrigger[]; readonly goesWithOthers: boolean }
  >()
  const byCure = new Map<RetryTrigger, Set<string>>()
  const forget = (name: string): void => {
    for (const kind of waiting.get(name)?.cures ?? []) byCure.get(kind)?.delete(name)
    waiting.delete(name)
  }
  return {
    forget,
    wait(name, cures, goesWithOthers) {
      forget(name)
      waiting.set(name, { cures, goesWithOthers })
      for (const kind of cures) {
        const names = byCure.get(kind) ?? new Set<string>()
        byCure.set(kind, names.add(name))
      }
    },
    curedBy: (kind) => [...(byCure.get(kind) ?? [])],
    curedByGrowth: () =>
      [...(byCure.get('placements') ?? [])].filter((name) => waiting.get(name)?.goesWithOthers),
  }
}
