// A replica is said to be ready once the router leads to it: whoever reads that may take another one away. Only of routed
// deployments, and only so long: a router that is slow must not hold up a rollout for ever.

import type { AssignmentId, Observation } from '@holdfast/contract'
import { isReady } from '@holdfast/core/node'
import type { Router } from './router.ts'

const AT_MOST_MS = 2000

type Report = (observations: readonly Observation[]) => void

export function holdReady(
  router: Pick<Router, 'nudge' | 'applied'>,
  isRouted: (id: AssignmentId) => boolean,
  report: Report,
): Report {
  /** The number of the newest that was said of each: one that was held is not said after it. */
  const newest = new Map<AssignmentId, number>()
  const waits = (one: Observation): boolean => isReady(one) && isRouted(one.assignmentId)
  const sayLater = async (held: readonly Observation[]): Promise<void> => {
    await router.applied(AT_MOST_MS)
    const current = held.filter(({ assignmentId, seq }) => newest.get(assignmentId) === seq)
    for (const { assignmentId } of current) newest.delete(assignmentId)
    if (current.length > 0) report(current)
  }
  return (observations) => {
    router.nudge()
    const held = observations.filter(waits)
    const now = observations.filter((one) => !held.includes(one))
    for (const { assignmentId } of now) newest.delete(assignmentId)
    for (const { assignmentId, seq } of held) newest.set(assignmentId, seq)
    if (now.length > 0) report(now)
    if (held.length > 0) void sayLater(held)
  }
}
