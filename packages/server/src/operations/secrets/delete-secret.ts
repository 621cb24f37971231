// DELETE /secrets/{namespace}/{resource}: destroys every version that is listed. What another write has staged meanwhile is
// not among them and stays that write's own. DECISIONS 1 and 2.

import type { SecretSummary } from '@holdfast/contract'
import { reject } from '@holdfast/core'
import { freeSlot } from '../../quotas/hold-slot.ts'
import { credentials, type StoredCredential } from '../../store/records.ts'
import type { Decision, Store } from '../../store/store.ts'
import { inTenant, type Transaction } from '../../store/transaction.ts'
import { type Caller, done, type Outcome, refused } from '../caller.ts'
import { checkIfMatch } from '../check-if-match.ts'
import { recordAudit } from '../record-write.ts'
import { requireLiveCaller } from '../require-live-caller.ts'
import { newestVersion, type SecretAddress } from './judge-secret-write.ts'
import { secretView } from './read-secrets.ts'
import { destroyStaged } from './versions/destroy-staged.ts'
import { markVersionsForDestruction } from './versions/mark-for-destruction.ts'
import type { StageDeps, StagedVersion } from './versions/stage-version.ts'
import { gatherUses, nameUsers, pathOf } from './versions/version-uses.ts'

interface Deleted {
  readonly shown: SecretSummary
  readonly pendingDestruction: readonly StagedVersion[]
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
  await destroyStaged(deps, caller.tenant, outcome.value.pendingDestruction)
  return done(outcome.value.shown)
}

function decideDelete(
  deps: StageDeps,
  transaction: Transaction,
  caller: Caller,
  { namespace, resource: label }: SecretAddress,
  ifMatch: string | undefined,
): Decision<Outcome<Deleted>> {
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
  const pendingDestruction = markVersionsForDestruction(transaction, deps.clock, tenant, credential, versions)
  recordAudit(transaction, deps.clock, caller, {
    action: 'secrets:deleted',
    subject: { kind: 'Secret', name: pathOf(credential) },
    detail: { versions: versions.join(', ') },
  })
  return {
    kind: 'commit',
    result: done({ shown: secretView(credential, new Map(), true), pendingDestruction }),
  }
}

/**
 * Who refers to it, and who no longer does but still has replicas of a revision that did, or would go back to one. Only the
 * former can grow, and that changes the record, which is compared.
 */
function usersOf(store: Store, { tenant }: Caller, credential: StoredCredential): string[] {
  const running = [...gatherUses(store, tenant)(credential).values()].flat()
  return [...new Set([...credential.consumers, ...running])].sort()
}
