// Deployments with a replica that fits on no node, by the kind of change that may help. A change of that kind requeues
// exactly these deployments, so there is no polling. See docs/design/leadership.md#work-queue

import type { RetryTrigger } from '@holdfast/core'

export interface WaitingList {
  wait(name: string, cures: readonly RetryTrigger[], hasAffinity: boolean): void
  forget(name: string): void
  curedBy(kind: RetryTrigger): string[]
  /** Deployments to requeue when another deployment gets replicas: those with affinity, which may now fit on a node. */
  curedByGrowth(): string[]
}

export function createWaitingList(): WaitingList {
  const waiting = new Map<
    string,
    { readonly cures: readonly RetryTrigger[]; readonly hasAffinity: boolean }
  >()
  const byCure = new Map<RetryTrigger, Set<string>>()
  const forget = (name: string): void => {
    for (const kind of waiting.get(name)?.cures ?? []) byCure.get(kind)?.delete(name)
    waiting.delete(name)
  }
  return {
    forget,
    wait(name, cures, hasAffinity) {
      forget(name)
      waiting.set(name, { cures, hasAffinity })
      for (const kind of cures) {
        const names = byCure.get(kind) ?? new Set<string>()
        byCure.set(kind, names.add(name))
      }
    },
    curedBy: (kind) => [...(byCure.get(kind) ?? [])],
    curedByGrowth: () =>
      [...(byCure.get('placements') ?? [])].filter((name) => waiting.get(name)?.hasAffinity),
  }
}
