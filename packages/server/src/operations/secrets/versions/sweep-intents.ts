// The sweep of abandoned secret versions: an intent that is older than a minute is marked for destruction, and every
// version marked for destruction is destroyed. intents.ts describes the states.

import type { Clock } from '../../../ports/clock.ts'
import { intents } from '../../../store/records.ts'
import { type DestroyDeps, markForDestruction, retireVersionNumber } from './destroy-versions.ts'

export interface SweepDeps extends DestroyDeps {
  readonly clock: Clock
}

const ABANDONED_AFTER_MS = 60_000

/** A failure with one intent does not stop the sweep of the others. All failures are thrown together at the end. */
export async function sweepIntents(deps: SweepDeps): Promise<void> {
  const failures: unknown[] = []
  const old = deps.clock.now() - ABANDONED_AFTER_MS
  for (const { id, record } of deps.store.listWithIds(intents)) {
    if (!record.pendingDestruction && Date.parse(record.createdAt) >= old) continue
    await endIntent(deps, id).catch((error: unknown) => failures.push(error))
  }
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} intents could not be ended`)
}

async function endIntent(deps: SweepDeps, id: string): Promise<void> {
  const marked = await markForDestruction(deps, id)
  if (marked !== undefined) await retireVersionNumber(deps, marked)
}
