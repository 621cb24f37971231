// PUT and PATCH /secrets/{namespace}/{resource}: add a version to a credential, with exactly the keys sent or with these
// keys beside those of the newest version. The write is checked, then the version is written to the secrets store, then
// one transaction lists it. A rejected write leaves no version (docs/design/secrets.md#two-store-writes).

import { defined, type Json, type Rejection, type SecretWritten, utf8Length } from '@holdfast/contract'
import {
  checkSecretPath,
  checkSecretWrite,
  type Limits,
  newestUsable,
  planPatch,
  reject,
  type SentDocument,
  type SentMaterial,
  warnOfDroppedKeys,
} from '@holdfast/core'
import { timestamp } from '../../ports/clock.ts'
import type { SecretsWriter } from '../../ports/secrets-store.ts'
import { declassifyStored } from '../../ports/taint.ts'
import { claimSlot, type SlotDeps } from '../../quotas/hold-slot.ts'
import { type HeldSlots, holdCredentialSlots } from '../../quotas/hold-slots.ts'
import { credentials, intents } from '../../store/records.ts'
import type { TransactionDecision } from '../../store/store.ts'
import { globally, inTenant, type Transaction } from '../../store/transaction.ts'
import { type Caller, done, type Outcome, refused } from '../caller.ts'
import { requireLiveCaller } from '../preconditions.ts'
import { recordAudit } from '../record-write.ts'
import {
  judgeBeforeStaging,
  judgeSecretWrite,
  listedVersions,
  needsSlot,
  type SecretAddress,
  type SecretWrite,
} from './judge-secret-write.ts'
import { emitSecretWritten, newCredential, withVersion } from './versions/claim-credentials.ts'
import { consumeIntent, intentIdOf } from './versions/intents.ts'
import { pruneVersions } from './versions/prune-versions.ts'
import {
  destroyMaterial,
  keysOf,
  type MaterialDeps,
  roundUp,
  type StagedMaterial,
  stageOne,
} from './versions/stage-material.ts'
import type { PatchTarget } from './versions/stage-version.ts'
import { pathOf } from './versions/version-uses.ts'

export interface WriteSecretDeps extends MaterialDeps, SlotDeps {
  readonly secrets: MaterialDeps['secrets'] & Pick<SecretsWriter, 'patchVersion'>
  readonly namespaces: readonly string[]
  readonly limits: Limits
}

interface WriteOptions {
  readonly ifMatch?: string | undefined
  /** Add the keys to the newest version instead of replacing it. */
  readonly patch?: boolean
}

export async function writeSecret(
  deps: WriteSecretDeps,
  caller: Caller,
  path: SecretAddress,
  sent: Json,
  { ifMatch, patch = false }: WriteOptions = {},
): Promise<Outcome<SecretWritten>> {
  const { namespace, resource: label } = path
  const misplaced = checkSecretPath(namespace, label, deps.namespaces)
  if (misplaced.length > 0) return refused(...misplaced)
  const verdict = checkSecretWrite(sent, deps)
  if (!verdict.accepted) return refused(...verdict.rejections)
  const material = { namespace, label, ...verdict.material }
  const write = { caller, namespace, label, sent: largestDocument(deps.limits, material), patch, ifMatch }
  const faults = await judgeBeforeStaging(deps, write)
  if (faults.length > 0) return refused(...faults)
  const staged = await stageOne(deps, caller, material, patch ? { patch: patchTarget(deps, write) } : {})
  if (!staged.ok) return staged
  const outcome = await listVersion(deps, write, staged.value)
  if (outcome.ok) await pruneVersions(deps, caller.tenant, label)
  else await destroyMaterial(deps, caller, [staged.value])
  return outcome
}

/** Keys and size of a document before its generated values exist: each is counted with the longest possible value. */
function largestDocument({ generateEncodedCharacters }: Limits, material: SentMaterial): SentDocument {
  const { values, generate } = material
  const sizes = [...values].map(([key, value]) => utf8Length(key) + utf8Length(value))
  const sent = sizes.reduce((sum, each) => sum + each, 0)
  return {
    keys: keysOf(material),
    bytes: roundUp(sent + (generate?.keys.length ?? 0) * generateEncodedCharacters),
  }
}

/** A patch extends the version that the credential's record lists as the newest one. */
function patchTarget(deps: WriteSecretDeps, write: SecretWrite): PatchTarget {
  const { store, limits, secrets } = deps
  const { caller, namespace, label } = write
  const judge = (newest: number): 'ok' | 'pending' | Rejection => {
    const stored = store.get(inTenant(caller.tenant, credentials, label))?.record
    const planned = planPatch(listedVersions(stored), newest, write.sent, limits.secretDocumentBytes)
    if (planned.kind === 'ok') return 'ok'
    const intent = intentIdOf(caller.tenant, { namespace, label }, newest)
    return store.get(globally(intents, intent)) === undefined ? planned.rejection : 'pending'
  }
  return {
    patchVersion: secrets.patchVersion,
    async judgeBase(newest) {
      if (judge(newest) === 'ok') return 'ok'
      await store.fresh()
      return judge(newest)
    },
  }
}

async function listVersion(
  deps: WriteSecretDeps,
  write: SecretWrite,
  staged: StagedMaterial,
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
  staged: StagedMaterial,
  held: HeldSlots,
): TransactionDecision<Outcome<SecretWritten>> {
  const { caller, namespace, label } = write
  const gone = requireLiveCaller(transaction, caller)
  if (gone !== undefined) return { kind: 'abort', result: refused(gone) }
  const address = inTenant(caller.tenant, credentials, label)
  const stored = transaction.get(address)
  declassifyStored(stored)
  const choice = held.choose(needsSlot(stored) ? 1 : 0)
  if (choice.kind === 'busy') return { kind: 'wait', until: choice.until }
  const slots = choice.kind === 'full' ? [choice.quota] : []
  const { version, keys: sentKeys, bytes: sentBytes } = staged
  const exact = { ...write, sent: { keys: sentKeys, bytes: sentBytes } }
  const { faults, document } = judgeSecretWrite(deps, exact, stored, slots, version - 1)
  if (faults.length > 0 || choice.kind === 'full') return { kind: 'abort', result: refused(...faults) }
  if (!consumeIntent(transaction, staged.stagedVersion))
    return { kind: 'abort', result: refused(abandoned()) }
  const [slot] = choice.slots
  const keys = [...document.keys]
  const { storedAt } = staged.stagedVersion
  const times = { createdAt: timestamp(deps.clock), ...defined({ storedAt }) }
  const listed = { label, version, keys, bytes: document.bytes, ...times, slot }
  transaction.put(address, withVersion(stored ?? newCredential(namespace, label), listed))
  if (slot !== undefined) claimSlot(transaction, caller.tenant, 'secrets', slot, label)
  recordWritten(deps, transaction, write, version)
  const { versions, staged: inRotation } = listedVersions(stored)
  const warnings = warnOfDroppedKeys(newestUsable(versions, inRotation), keys, 'values')
  return {
    kind: 'commit',
    result: done({ path: pathOf(write), namespace, resource: label, version, keys, warnings }),
  }
}

const abandoned = (): Rejection =>
  reject('store_unavailable', 'store', undefined, {
    cause: 'the write took too long, and another writer was given its version number',
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
