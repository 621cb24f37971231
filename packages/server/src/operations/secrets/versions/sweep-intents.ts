// The janitor of half-finished writes to two stores (SAFETY 4a, step 6): an intent that nobody ended within a minute is
// condemned, after which its write can no longer be pinned; what is condemned, by the janitor or from the start, is destroyed.

import type { Clock } from '../../../ports/clock.ts'
import { intents } from '../../../store/records.ts'
import { markForDestruction, type RetireDeps, retireVersionNumber } from './retire-version-number.ts'

export interface SweepDeps extends RetireDeps {
  readonly clock: Clock
}

const PATIENCE_MS = 60_000

export async function sweepIntents(deps: SweepDeps): Promise<void> {
  const failures: unknown[] = []
  const old = deps.clock.now() - PATIENCE_MS
  for (const { id, record } of deps.store.listWithIds(intents)) {
    if (!record.pendingDestruction && Date.parse(record.createdAt) >= old) continue
    await endIntent(deps, id).catch((error: unknown) => failures.push(error))
  }
  // One that fails keeps none of the others waiting; it is told, and tried again at the next turn.
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} intents could not be ended`)
}

async function endIntent(deps: SweepDeps, id: string): Promise<void> {
  const pendingDestruction = await markForDestruction(deps, id)
  if (pendingDestruction !== undefined) await retireVersionNumber(deps, pendingDestruction)
}
