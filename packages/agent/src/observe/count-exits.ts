// Counts the exits of a container that the agent restarts, because the engine counts only its own restarts.

import { isFencedExit, type ReplicaView, type SeenContainer } from '@holdfast/core/node'
import type { ExitCounts } from '../state/exit-counts.ts'

/**
 * Counts the restarts of a container that the agent restarts. The engine counts its own restarts at the exit, so they are
 * counted at the exit here too. A run that ended with its lease is no restart.
 */
export function countExits(
  counts: Pick<ExitCounts, 'of' | 'note'>,
  { container: before, item, exitCause }: ReplicaView,
  finishedAt: string | null,
  seen: SeenContainer,
): SeenContainer {
  const known = counts.of(seen.id)
  const isNew = known === undefined && (typeof before !== 'object' || before.id !== seen.id)
  // An exit while no agent ran is known from the engine, without its cause.
  const at = seen.lastExit?.at ?? (isNew && item.desired === 'running' ? finishedAt : null)
  if (at === null || at === known?.lastAt) return { ...seen, restarts: known?.count ?? 0 }
  const restarts = (known?.count ?? 0) + (isFencedExit(exitCause, at) ? 0 : 1)
  counts.note(seen.id, restarts, at)
  return { ...seen, restarts }
}
