// A replica that goes once its successor is ready takes room until then, but it does not count when the successor is spread:
// else an update would drive successors from the very nodes that it frees, and three on three nodes would end up on two.

import type { Placing, RolloutPlan, Workload } from '@holdfast/core'
import type { TenantView } from './tenant-view.ts'

/** No deployment has such a name. */
const NOBODY = ''

/** `place` sees those that go under no name. Where the own name is a hard rule (affinity, antiAffinity), all count. */
export function passOver(
  { scheduling }: Pick<TenantView, 'scheduling'>,
  { name, resources, placement }: Workload,
  { kept, missing }: Pick<RolloutPlan, 'kept' | 'missing'>,
  place: () => Placing,
): Placing {
  const { affinity = [], antiAffinity = [] } = placement ?? {}
  if (affinity.includes(name) || antiAffinity.includes(name)) return place()
  const numbers = new Set(missing.map(({ replica }) => replica))
  const going = kept.filter(({ desired, replica }) => desired === 'removed' || numbers.has(replica))
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
