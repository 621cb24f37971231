// A deployment write that needs new secret versions runs its decision twice. The first run writes nothing, so a rejection
// changes neither etcd nor the secrets store. The new versions are then written to the secrets store, and the second
// run pins them in its transaction (docs/design/secrets.md#two-store-writes).

import type { SentMaterial } from '@holdfast/core'
import { type HeldSlots, holdCredentialSlots } from '../../../quotas/hold-slots.ts'
import { credentials } from '../../../store/records.ts'
import type { TransactionDecision } from '../../../store/store.ts'
import { inTenant, type Transaction } from '../../../store/transaction.ts'
import { type Caller, type Outcome, type Refused, refused } from '../../caller.ts'
import { endIntents } from '../../secrets/versions/intents.ts'
import { pruneVersions } from '../../secrets/versions/prune-versions.ts'
import { destroyMaterial, type StagedMaterial, stageMaterial } from '../../secrets/versions/stage-material.ts'
import { storeUnavailable } from '../../secrets/versions/stage-version.ts'
import type { DeploymentDeps } from '../deps.ts'

/** Input of each decision: the versions already written to the secrets store, and the quota slots of new credentials. */
export interface StagingState {
  readonly staged: readonly StagedMaterial[]
  readonly slots: HeldSlots
}

/** The result of a decision that accepts the write as soon as the `needed` versions are in the secrets store. */
export interface MaterialNeeded {
  readonly needed: readonly SentMaterial[]
}

/**
 * The most attempts of a write. A third attempt is needed only if another write changed the same credential in between.
 */
const MAX_ATTEMPTS = 4

/**
 * Runs the decision `decide` in a transaction. Secret versions that were written but not committed are destroyed, unless
 * the outcome of the commit is unknown: the sweep of intents then destroys the versions that are not in use.
 */
export async function writeWithMaterial<R extends Outcome<unknown> | string>(
  deps: DeploymentDeps,
  caller: Caller,
  decide: (transaction: Transaction, staging: StagingState) => TransactionDecision<R | MaterialNeeded>,
): Promise<R | Refused> {
  const slots = holdCredentialSlots(deps, caller.tenant)
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
      const outcome = await stageMaterial(deps, caller, result.needed)
      if (!outcome.ok) return outcome
      staged = outcome.value
    }
    await destroyMaterial(deps, caller, staged)
    return refused(storeUnavailable())
  } finally {
    slots.release()
  }
}

/** Runs after the commit: deletes the intents that the transaction had no room for, and prunes unused secret versions. */
async function cleanUpVersions(
  deps: DeploymentDeps,
  { tenant }: Caller,
  staged: readonly StagedMaterial[],
): Promise<void> {
  const [, ...followers] = staged.map(({ stagedVersion }) => stagedVersion)
  await endIntents(deps.store, followers)
  for (const { label, version } of staged) {
    // Pruning is skipped if the new version is the only one; the cache may not even show the new version yet.
    const listed = deps.store.get(inTenant(tenant, credentials, label))?.record.versions ?? []
    if (listed.some((other) => other.version !== version)) await pruneVersions(deps, tenant, label)
  }
}

/** Compares the kind of a decision in a function: the compiler does not see that a callback assigned the variable. */
const isAbort = (kind: TransactionDecision<unknown>['kind']): boolean => kind === 'abort'

function isNeeded(result: Outcome<unknown> | string | MaterialNeeded): result is MaterialNeeded {
  return typeof result === 'object' && 'needed' in result
}
