// A write of a deployment that may bring secret material: first everything is judged and nothing is staged, so that a refusal
// leaves no trace in either store; then the versions are made; then the same decision is taken again, with them in hand, and
// its transaction pins them. SAFETY 4a, steps 3 to 6.

import type { SentMaterial } from '@holdfast/core'
import { type HeldSlots, holdCredentialSlots } from '../../../quotas/hold-slots.ts'
import { credentials } from '../../../store/records.ts'
import type { Decision } from '../../../store/store.ts'
import { inTenant, type Transaction } from '../../../store/transaction.ts'
import { type Caller, type Outcome, type Refused, refused } from '../../caller.ts'
import { endIntents } from '../../secrets/versions/destroy-staged.ts'
import { pruneVersions } from '../../secrets/versions/prune-versions.ts'
import {
  destroyMaterial,
  planStagedMaterial,
  type StagedMaterial,
  stageMaterial,
} from '../../secrets/versions/stage-material.ts'
import { storeUnavailable } from '../../secrets/versions/stage-version.ts'
import type { DeploymentDeps } from '../deps.ts'

/** What a decision has to decide with. */
export interface InHand {
  readonly made: readonly StagedMaterial[]
  readonly slots: HeldSlots
}

/** All is sound but for versions that are still to be made. */
export interface MaterialWanted {
  readonly wanted: readonly SentMaterial[]
}

/** Each further one means that another write of the same credential came in between. */
const MAX_TRIES = 4

/** `decide` is as for the store. What was staged and not committed is destroyed, unless the outcome is not known. */
export async function writeWithMaterial<R extends Outcome<unknown> | string>(
  deps: DeploymentDeps,
  caller: Caller,
  { dryRun }: { readonly dryRun: boolean },
  decide: (transaction: Transaction, hand: InHand) => Decision<R | MaterialWanted>,
): Promise<R | Refused> {
  const slots = holdCredentialSlots(deps, caller.tenant)
  const make = dryRun ? planStagedMaterial : stageMaterial
  let made: readonly StagedMaterial[] = []
  try {
    for (let attempt = 0; attempt < MAX_TRIES; attempt += 1) {
      let last: Decision<unknown>['kind'] = 'abort'
      const result = await deps.store.transact((transaction) => {
        const decision = decide(transaction, { made, slots })
        last = decision.kind
        return decision
      })
      if (isRefusal(last)) await destroyMaterial(deps, caller, made)
      else await tidyUp(deps, caller, made)
      if (!isWanted(result)) return result
      const outcome = await make(deps, caller, result.wanted)
      if (!outcome.ok) return outcome
      made = outcome.value
    }
    await destroyMaterial(deps, caller, made)
    return refused(storeUnavailable())
  } finally {
    slots.release()
  }
}

/** Once all are listed. A first version has no others beside it. */
async function tidyUp(
  deps: DeploymentDeps,
  { tenant }: Caller,
  made: readonly StagedMaterial[],
): Promise<void> {
  const [, ...led] = made.flatMap(({ staged }) => staged ?? [])
  await endIntents(deps.store, led)
  for (const { label, version } of made) {
    // The cache may not show the new one yet.
    const listed = deps.store.get(inTenant(tenant, credentials, label))?.record.versions ?? []
    if (listed.some((other) => other.version !== version)) await pruneVersions(deps, tenant, label)
  }
}

/** Asked in a function, since what a callback assigned is not seen where it was called. */
const isRefusal = (kind: Decision<unknown>['kind']): boolean => kind === 'abort'

function isWanted(result: Outcome<unknown> | string | MaterialWanted): result is MaterialWanted {
  return typeof result === 'object' && 'wanted' in result
}
