// Work with a replica that fits on no node, by the kind of change that may help. A change of that kind requeues exactly
// this work, by its queue keys, so there is no polling. See docs/design/leadership.md#work-queue

import type { RetryTrigger } from '@holdfast/core'

export interface WaitingList {
  wait(key: string, cures: readonly RetryTrigger[], hasAffinity: boolean): void
  forget(key: string): void
  /** Sorted, so that a dry run and the real change place work that competes for room in the same order. */
  curedBy(kind: RetryTrigger): string[]
  /** Work to requeue when a deployment gets replicas: work with affinity, which may now fit on a node. */
  curedByGrowth(): string[]
}

export function createWaitingList(): WaitingList {
  const waiting = new Map<
    string,
    { readonly cures: readonly RetryTrigger[]; readonly hasAffinity: boolean }
  >()
  const byCure = new Map<RetryTrigger, Set<string>>()
  const forget = (key: string): void => {
    for (const kind of waiting.get(key)?.cures ?? []) byCure.get(kind)?.delete(key)
    waiting.delete(key)
  }
  return {
    forget,
    wait(key, cures, hasAffinity) {
      forget(key)
      waiting.set(key, { cures, hasAffinity })
      for (const kind of cures) {
        const keys = byCure.get(kind) ?? new Set<string>()
        byCure.set(kind, keys.add(key))
      }
    },
    curedBy: (kind) => [...(byCure.get(kind) ?? [])].sort(),
    curedByGrowth: () =>
      [...(byCure.get('placements') ?? [])].filter((key) => waiting.get(key)?.hasAffinity).sort(),
  }
}
