// DELETE /secrets/{namespace}/{resource}: destroys every version in the credential's record. A version of a concurrent
// write that is not committed yet is not in the record and is not destroyed.

import { consumerName, type SecretSummary } from '@holdfast/contract'
import { reject } from '@holdfast/core'
import { freeSlot } from '../../quotas/hold-slot.ts'
import { credentials, type StoredCredential } from '../../store/records.ts'
import type { Store, TransactionDecision } from '../../store/store.ts'
import { inTenant, type Transaction } from '../../store/transaction.ts'
import { type Caller, done, type Outcome, refused } from '../caller.ts'
import { checkIfMatch, requireLiveCaller } from '../preconditions.ts'
import { recordAudit } from '../record-write.ts'
import { newestVersion, type SecretAddress } from './judge-secret-write.ts'
import { secretView } from './read-secrets.ts'
import { destroyStaged, markVersionsForDestruction } from './versions/destroy-versions.ts'
import type { StagedVersion } from './versions/intents.ts'
import type { StageDeps } from './versions/stage-version.ts'
import { gatherUses, nameUsers, pathOf } from './versions/version-uses.ts'

interface DeletedSecret {
  readonly summary: SecretSummary
  readonly toDestroy: readonly StagedVersion[]
}

export async function deleteSecret(
  deps: StageDeps,
  caller: Caller,
  path: SecretAddress,
  ifMatch: string | undefined,
): Promise<Outcome<SecretSummary>> {
  const outcome = await deps.store.transact((transaction) =>
    decideDelete(deps, transaction, caller, path, ifMatch),
  )
  if (!outcome.ok) return outcome
  await destroyStaged(deps, caller.tenant, outcome.value.toDestroy)
  return done(outcome.value.summary)
}

function decideDelete(
  deps: StageDeps,
  transaction: Transaction,
  caller: Caller,
  { namespace, resource: label }: SecretAddress,
  ifMatch: string | undefined,
): TransactionDecision<Outcome<DeletedSecret>> {
  const { tenant } = caller
  const gone = requireLiveCaller(transaction, caller)
  if (gone !== undefined) return { kind: 'abort', result: refused(gone) }
  const address = inTenant(tenant, credentials, label)
  const credential = transaction.get(address)
  if (credential === undefined || credential.namespace !== namespace || credential.versions.length === 0)
    return { kind: 'abort', result: refused(reject('secret_not_found', 'resource', label)) }
  const conflict = checkIfMatch(ifMatch, newestVersion(credential))
  if (conflict !== undefined) return { kind: 'abort', result: refused(conflict) }
  const users = usersOf(deps.store, caller, credential)
  if (users.length > 0) {
    const inUse = reject('secret_in_use', 'resource', label, { consumers: nameUsers(users) })
    return { kind: 'abort', result: refused(inUse) }
  }
  transaction.delete(address)
  if (credential.slot !== null) freeSlot(transaction, tenant, 'secrets', credential.slot)
  const versions = credential.versions.map(({ version }) => version)
  const toDestroy = markVersionsForDestruction(transaction, deps.clock, tenant, credential, versions)
  recordAudit(transaction, deps.clock, caller, {
    action: 'secrets:deleted',
    subject: { kind: 'Secret', name: pathOf(credential) },
    detail: { versions: versions.join(', ') },
  })
  const summary = secretView(credential, new Map(), true)
  return { kind: 'commit', result: done({ summary, toDestroy }) }
}

/**
 * Workloads that refer to the credential, and workloads with replicas or a rollback target of a revision that
 * referred to it. A new reference changes the credential's record, which is compared at commit.
 */
function usersOf(store: Store, { tenant }: Caller, credential: StoredCredential): string[] {
  const running = [...gatherUses(store, tenant)(credential).values()].flat()
  return [...new Set([...credential.consumers.map(consumerName), ...running])].sort()
}
