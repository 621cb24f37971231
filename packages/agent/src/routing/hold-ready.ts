// Delays the report that a routed replica is ready until the router serves the replica: the server may stop another
// replica as soon as it reads the report. The delay is bounded, so that a slow router cannot block a rollout.

import type { AssignmentId, Observation } from '@holdfast/contract'
import { isReady } from '@holdfast/core/node'
import type { Router } from './router.ts'

const MAX_DELAY_MS = 2000

type Report = (observations: readonly Observation[]) => void

export function holdReady(
  router: Pick<Router, 'nudge' | 'applied'>,
  isRouted: (id: AssignmentId) => boolean,
  report: Report,
): Report {
  /** Sequence number of the delayed observation of each assignment; a newer report replaces the observation. */
  const newest = new Map<AssignmentId, number>()
  const waits = (one: Observation): boolean => isReady(one) && isRouted(one.assignmentId)
  const reportLater = async (held: readonly Observation[]): Promise<void> => {
    await router.applied(MAX_DELAY_MS)
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
    if (held.length > 0) void reportLater(held)
  }
}
