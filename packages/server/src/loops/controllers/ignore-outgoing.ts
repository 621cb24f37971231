// A replica that goes once its successor is ready takes room until then, but it does not count when the successor is spread:
// else an update would drive successors from the very nodes that it frees, and three on three nodes would end up on two.

import type { Assignment } from '@holdfast/contract'
import type { Placing, RolloutPlan, Workload } from '@holdfast/core'
import type { TenantView } from './tenant-view.ts'

/** No deployment has such a name. */
const NOBODY = ''

/** Those that go once their successors are ready. Where the own name is a hard rule (affinity, antiAffinity), all count. */
export function makingWay(
  { name, placement }: Workload,
  kept: readonly Assignment[],
  missing: RolloutPlan['missing'],
): Assignment[] {
  const { affinity = [], antiAffinity = [] } = placement ?? {}
  if (affinity.includes(name) || antiAffinity.includes(name)) return []
  const numbers = new Set(missing.map(({ replica }) => replica))
  return kept.filter(({ desired, replica }) => desired === 'removed' || numbers.has(replica))
}

/** `place` sees those that make way under no name. */
export function ignoreOutgoing(
  { scheduling }: Pick<TenantView, 'scheduling'>,
  workload: Workload,
  { kept, missing }: Pick<RolloutPlan, 'kept' | 'missing'>,
  place: () => Placing,
): Placing {
  const { name, resources } = workload
  const going = makingWay(workload, kept, missing)
  const rename = (from: string, to: string): void => {
    for (const { nodeId } of going) {
      scheduling.applyReleased(nodeId, from, resources)
      scheduling.applyAssigned(nodeId, to, resources)
    }
  }
  rename(name, NOBODY)
  try {
    return place()
  } finally {
    rename(NOBODY, name)
  }
}
