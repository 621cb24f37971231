// A deployment write that may bring secret material runs its decision twice. The first run stages nothing, so a rejection
// leaves no trace in either store. If it needs new versions they are staged, and the second run pins them in its
// transaction (docs/design/secrets.md#two-store-writes).

import type { SentMaterial } from '@holdfast/core'
import { type HeldSlots, holdCredentialSlots } from '../../../quotas/hold-slots.ts'
import { credentials } from '../../../store/records.ts'
import type { TransactionDecision } from '../../../store/store.ts'
import { inTenant, type Transaction } from '../../../store/transaction.ts'
import { type Caller, type Outcome, type Refused, refused } from '../../caller.ts'
import { endIntents } from '../../secrets/versions/intents.ts'
import { pruneVersions } from '../../secrets/versions/prune-versions.ts'
import {
  destroyMaterial,
  planStagedMaterial,
  type StagedMaterial,
  stageMaterial,
} from '../../secrets/versions/stage-material.ts'
import { storeUnavailable } from '../../secrets/versions/stage-version.ts'
import type { DeploymentDeps } from '../deps.ts'

/** The versions staged so far and the quota slots held for new credentials; the input of each decision. */
export interface StagingState {
  readonly staged: readonly StagedMaterial[]
  readonly slots: HeldSlots
}

/** The write is accepted once these versions are staged. */
export interface MaterialNeeded {
  readonly needed: readonly SentMaterial[]
}

/** A third or fourth attempt happens only if another write of the same credential came in between. */
const MAX_ATTEMPTS = 4

/**
 * `decide` is a decision as the store's `transact` takes it. Versions that were staged and not committed are destroyed,
 * unless the outcome of the commit is unknown: then the sweep of intents decides.
 */
export async function writeWithMaterial<R extends Outcome<unknown> | string>(
  deps: DeploymentDeps,
  caller: Caller,
  { dryRun }: { readonly dryRun: boolean },
  decide: (transaction: Transaction, staging: StagingState) => TransactionDecision<R | MaterialNeeded>,
): Promise<R | Refused> {
  const slots = holdCredentialSlots(deps, caller.tenant)
  const stage = dryRun ? planStagedMaterial : stageMaterial
  let staged: readonly StagedMaterial[] = []
  try {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      let last: TransactionDecision<unknown>['kind'] = 'abort'
      const result = await deps.store.transact((transaction) => {
        const decision = decide(transaction, { staged, slots })
        last = decision.kind
        return decision
      })
      if (isAbort(last)) await destroyMaterial(deps, caller, staged)
      else await cleanUpVersions(deps, caller, staged)
      if (!isNeeded(result)) return result
      const outcome = await stage(deps, caller, result.needed)
      if (!outcome.ok) return outcome
      staged = outcome.value
    }
    await destroyMaterial(deps, caller, staged)
    return refused(storeUnavailable())
  } finally {
    slots.release()
  }
}

/** After the commit: ends the intents that the transaction had no room for, and prunes versions that are not in use. */
async function cleanUpVersions(
  deps: DeploymentDeps,
  { tenant }: Caller,
  staged: readonly StagedMaterial[],
): Promise<void> {
  const [, ...followers] = staged.flatMap(({ stagedVersion }) => stagedVersion ?? [])
  await endIntents(deps.store, followers)
  for (const { label, version } of staged) {
    // The cache may not show the new version yet. A first version has no others to prune.
    const listed = deps.store.get(inTenant(tenant, credentials, label))?.record.versions ?? []
    if (listed.some((other) => other.version !== version)) await pruneVersions(deps, tenant, label)
  }
}

/** A function, because the compiler does not see that the callback has assigned the variable. */
const isAbort = (kind: TransactionDecision<unknown>['kind']): boolean => kind === 'abort'

function isNeeded(result: Outcome<unknown> | string | MaterialNeeded): result is MaterialNeeded {
  return typeof result === 'object' && 'needed' in result
}
