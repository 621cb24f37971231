// PUT /secrets/{namespace}/{resource}: adds a version to a credential. The write is checked, then the version is written
// to the secrets store, then one transaction lists it. A rejected write leaves no version
// (docs/design/secrets.md#two-store-writes).

import type { Json, SecretWritten } from '@holdfast/contract'
import { checkSecretPath, checkSecretWrite, type Limits, reject } from '@holdfast/core'
import { timestamp } from '../../ports/clock.ts'
import { claimSlot, type SlotDeps } from '../../quotas/hold-slot.ts'
import { type HeldSlots, holdCredentialSlots } from '../../quotas/hold-slots.ts'
import { credentials } from '../../store/records.ts'
import type { TransactionDecision } from '../../store/store.ts'
import { inTenant, type Transaction } from '../../store/transaction.ts'
import { type Caller, done, type Outcome, refused } from '../caller.ts'
import { requireLiveCaller } from '../preconditions.ts'
import { recordAudit } from '../record-write.ts'
import {
  judgeBeforeStaging,
  judgeSecretWrite,
  needsSlot,
  type SecretAddress,
  type SecretWrite,
} from './judge-secret-write.ts'
import { emitSecretWritten, newCredential, withVersion } from './versions/claim-credentials.ts'
import { consumeIntent } from './versions/intents.ts'
import { pruneVersions } from './versions/prune-versions.ts'
import {
  destroyMaterial,
  keysOf,
  type MaterialDeps,
  type StagedMaterial,
  stageMaterial,
} from './versions/stage-material.ts'
import { pathOf } from './versions/version-uses.ts'

export interface WriteSecretDeps extends MaterialDeps, SlotDeps {
  readonly namespaces: readonly string[]
  readonly limits: Limits
}

export async function writeSecret(
  deps: WriteSecretDeps,
  caller: Caller,
  path: SecretAddress,
  sent: Json,
  { ifMatch }: { readonly ifMatch?: string | undefined } = {},
): Promise<Outcome<SecretWritten>> {
  const { namespace, resource: label } = path
  const misplaced = checkSecretPath(namespace, label, deps.namespaces)
  if (misplaced.length > 0) return refused(...misplaced)
  const verdict = checkSecretWrite(sent, deps)
  if (!verdict.accepted) return refused(...verdict.rejections)
  const material = { namespace, label, ...verdict.material }
  const write = { caller, namespace, label, keys: keysOf(material), ifMatch }
  const faults = await judgeBeforeStaging(deps, write)
  if (faults.length > 0) return refused(...faults)
  const staged = await stageMaterial(deps, caller, [material])
  if (!staged.ok) return staged
  const outcome = await listVersion(deps, write, staged.value)
  if (outcome.ok) await pruneVersions(deps, caller.tenant, label)
  else await destroyMaterial(deps, caller, staged.value)
  return outcome
}

async function listVersion(
  deps: WriteSecretDeps,
  write: SecretWrite,
  staged: readonly StagedMaterial[],
): Promise<Outcome<SecretWritten>> {
  const held = holdCredentialSlots(deps, write.caller.tenant)
  try {
    return await deps.store.transact((transaction) => decideWrite(deps, transaction, write, staged, held))
  } finally {
    held.release()
  }
}

function decideWrite(
  deps: WriteSecretDeps,
  transaction: Transaction,
  write: SecretWrite,
  [staged]: readonly StagedMaterial[],
  held: HeldSlots,
): TransactionDecision<Outcome<SecretWritten>> {
  const { caller, namespace, label } = write
  const gone = requireLiveCaller(transaction, caller)
  if (gone !== undefined) return { kind: 'abort', result: refused(gone) }
  const address = inTenant(caller.tenant, credentials, label)
  const stored = transaction.get(address)
  const choice = held.choose(needsSlot(stored) ? 1 : 0)
  if (choice.kind === 'busy') return { kind: 'wait', until: choice.until }
  const faults = judgeSecretWrite(deps, write, stored, choice.kind === 'full' ? [choice.quota] : [])
  if (faults.length > 0 || choice.kind === 'full') return { kind: 'abort', result: refused(...faults) }
  if (staged === undefined || !consumeIntent(transaction, staged.stagedVersion))
    return { kind: 'abort', result: refused(reject('store_unavailable', 'store', undefined)) }
  const [slot] = choice.slots
  const { version, keys } = staged
  const listed = { label, version, keys: [...keys], createdAt: timestamp(deps.clock), slot }
  transaction.put(address, withVersion(stored ?? newCredential(namespace, label), listed))
  if (slot !== undefined) claimSlot(transaction, caller.tenant, 'secrets', slot, label)
  recordWritten(deps, transaction, write, version)
  return { kind: 'commit', result: done(writtenView(write, staged)) }
}

const writtenView = (write: SecretWrite, { version, keys }: StagedMaterial): SecretWritten => ({
  path: pathOf(write),
  namespace: write.namespace,
  resource: write.label,
  version,
  keys: [...keys],
})

/** Records the event and audit entry of a new version. Neither contains key names, which not every reader may see. */
function recordWritten(
  { clock }: WriteSecretDeps,
  transaction: Transaction,
  write: SecretWrite,
  version: number,
): void {
  emitSecretWritten(transaction, clock, write.caller.tenant, write, version)
  recordAudit(transaction, clock, write.caller, {
    action: 'secrets:written',
    subject: { kind: 'Secret', name: pathOf(write) },
    detail: { version: String(version) },
  })
}
