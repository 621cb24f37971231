// POST /api/v1/deployments, in this order: rules on the body, normalization, gathering of facts, rules on facts, one
// transaction (docs/design/admission.md#order).

import {
  asDeploymentUid,
  defined,
  isJsonObject,
  type Json,
  type QuotaKind,
  type Rejection,
} from '@holdfast/contract'
import {
  type ImageFact,
  judgeBody,
  type Normalised,
  normalise,
  parseImageReference,
  type QuotaFact,
  type ValidPart,
} from '@holdfast/core'
import { timestamp } from '../../../ports/clock.ts'
import { claimSlot, holdSlot } from '../../../quotas/hold-slot.ts'
import type { SlotChoice } from '../../../quotas/slots.ts'
import { deployments, type StoredDeployment } from '../../../store/records.ts'
import { StoreUnavailableError, type TransactionDecision } from '../../../store/store.ts'
import { inTenant, type Transaction } from '../../../store/transaction.ts'
import { checkBackup, type RestoredBackup, restoredForm } from '../../backups/restored-backup.ts'
import { type Caller, type Outcome, refused } from '../../caller.ts'
import { type Kept, keepOnce } from '../../idempotency.ts'
import { requireLiveCaller } from '../../preconditions.ts'
import { scalingOfWrite, storedScaling } from '../../scaling/scaling-of-write.ts'
import { type HasForm, RAISE_FORM, writeInForm } from '../../write-in-form.ts'
import type { DeploymentDeps } from '../deps.ts'
import { deploymentView } from '../read/deployment-view.ts'
import { checkSpecSize } from './check-size.ts'
import { gatherBytes, gatherImage } from './gather-facts.ts'
import { checkNodesReadable } from './gather-node.ts'
import { consumeStaged, gatherSecrets, materialPermission, storedPins } from './judge-secrets.ts'
import { judgeValidPart, textOf } from './judge-valid-part.ts'
import { followMounts, judgeWrite } from './judge-write.ts'
import { identifySpec, type RevisionParts, type SpecIdentity, storeRevision } from './store-deployment.ts'
import { type MaterialNeeded, type StagingState, writeWithMaterial } from './write-with-material.ts'
import type { Written } from './written.ts'

const KIND: QuotaKind = 'deployments'

export interface CreateOptions extends Kept<Written> {
  /** Set if the deployment is created from a backup. */
  readonly restored?: RestoredSpec
}

interface RestoredSpec {
  readonly backup: RestoredBackup
  /** The image digest of the backup; undefined if no registry had resolved it. */
  readonly digest: string | undefined
}

export async function createDeployment(
  deps: DeploymentDeps,
  caller: Caller,
  sent: Json,
  options: CreateOptions,
): Promise<Outcome<Written>> {
  const { rejections, valid } = judgeBody(sent, {
    mode: 'create',
    ...deps.admission,
    ...materialPermission(caller),
  })
  if (rejections.length > 0 || !isJsonObject(sent))
    return refused(...rejections, ...(await judgeFaulty(deps, caller, valid)))
  const normalised = (deps.normalise ?? normalise)(sent, undefined, deps.admission.limits)
  const { spec } = normalised
  const unreadable = await checkNodesReadable(deps, spec.nodeId)
  if (unreadable !== undefined) return unreadable
  const { host = '', repository = '' } = parseImageReference(spec.image) ?? {}
  const digest = options.restored?.digest
  const reference = digest === undefined ? spec.image : `${host}/${repository}@${digest}`
  const image = await gatherImage(deps, caller, reference, host)
  const identity = identifySpec(spec)
  const oversized = checkSpecSize(identity)
  if (oversized.length > 0) return refused(...oversized)
  const held = holdSlot(deps, caller.tenant, KIND)
  return writeInForm(deps.store, restoredForm(options.restored?.backup), (hasForm) =>
    writeWithMaterial(deps, caller, (transaction, staging) =>
      decideCreate(deps, transaction, {
        ...{ caller, normalised, image, slot: held.choose(), identity, options, staging, hasForm },
      }),
    ),
  ).finally(() => held.release())
}

/** The rejections by facts of a body with faults; none while the store is unavailable, because the faults are known. */
async function judgeFaulty(
  deps: DeploymentDeps,
  caller: Caller,
  valid: ValidPart | undefined,
): Promise<readonly Rejection[]> {
  if (valid === undefined) return []
  const reference = textOf(valid.fields, 'image')
  const host = reference === undefined ? undefined : parseImageReference(reference)?.host
  const image =
    reference === undefined || host === undefined
      ? undefined
      : await gatherImage(deps, caller, reference, host)
  try {
    return await deps.store.transact((transaction) => ({
      kind: 'abort',
      result: judgeValidPart(deps, transaction, caller, { valid, image }),
    }))
  } catch (error) {
    if (error instanceof StoreUnavailableError) return []
    throw error
  }
}

interface CreateRequest {
  readonly caller: Caller
  readonly normalised: Normalised
  readonly image: ImageFact
  readonly slot: SlotChoice
  readonly identity: SpecIdentity
  readonly options: CreateOptions
  readonly staging: StagingState
  readonly hasForm: HasForm
}

function decideCreate(
  deps: DeploymentDeps,
  transaction: Transaction,
  sent: CreateRequest,
): TransactionDecision<Outcome<Written> | MaterialNeeded | typeof RAISE_FORM> {
  const request = { ...sent, ...followMounts(transaction, sent.caller.tenant, sent, undefined) }
  const { caller, normalised, image, slot, identity, options, staging } = request
  if (slot.kind === 'busy') return { kind: 'wait', until: slot.until }
  const { restored } = options
  const gone =
    requireLiveCaller(transaction, caller) ?? checkBackup(transaction, caller.tenant, restored?.backup)
  if (gone !== undefined) return { kind: 'abort', result: refused(gone) }
  const { spec, material } = normalised
  const secrets = gatherSecrets(
    deps,
    transaction,
    caller.tenant,
    { spec, material, before: undefined, ...defined({ restored: restored?.backup }) },
    staging,
  )
  if (secrets.busy !== undefined) return { kind: 'wait', until: secrets.busy }
  const scaling = scalingOfWrite(deps, spec, undefined, restored?.backup)
  if (!scaling.ok) return { kind: 'abort', result: scaling }
  const judged = judgeWrite(deps, transaction, caller, {
    mode: 'create',
    normalised,
    identity,
    secrets,
    stored: transaction.get(inTenant(caller.tenant, deployments, spec.name)),
    sendsDependsOn: true,
    sentNodeId: sent.normalised.spec.nodeId,
    sendsPlace: true,
    ...defined({ mostReplicas: scaling.value?.policy.max }),
    image,
    archivedDigest: restored?.digest,
    restores: restored !== undefined,
    quotas: gatherQuotas(deps, caller, slot, identity.bytes),
  })
  if (!judged.ok) return { kind: 'abort', result: judged }
  if (slot.kind === 'full') throw new TypeError('a full quota was not rejected')
  if (!sent.hasForm(transaction)) return { kind: 'abort', result: RAISE_FORM }
  if (!consumeStaged(transaction, spec, secrets, staging.staged))
    return { kind: 'abort', result: { needed: secrets.needed } }
  const { imageDigest, unresolved, alterations, warnings } = judged.value
  const stored = {
    ...newDeployment(deps, transaction, request, imageDigest, slot.slot),
    ...storedPins(secrets.pins),
    ...storedScaling(scaling.value),
  }
  const written = { deployment: deploymentView(deps.store, caller.tenant, stored), alterations, warnings }
  claimSlot(transaction, caller.tenant, KIND, slot.slot, stored.uid)
  const { newVersions } = secrets
  storeRevision(deps, transaction, caller, stored, { newVersions, unresolved, ...causeOf(restored) })
  return keepOnce(deps.answers, transaction, caller, options, written)
}

function causeOf(restored: RestoredSpec | undefined): Pick<RevisionParts, 'cause' | 'backup'> {
  if (restored === undefined) return {}
  const { backup } = restored
  const { id, deploymentName } = backup
  const message = `Deployment ${deploymentName} was created again from backup ${id}, revision 1.`
  return { cause: { verb: 'restored', message, data: { backup: id } }, backup }
}

function newDeployment(
  { clock, ids }: DeploymentDeps,
  transaction: Transaction,
  { normalised: { spec }, identity: { specHash } }: CreateRequest,
  digest: string | null,
  slot: number,
): StoredDeployment {
  const now = timestamp(clock)
  const uid = asDeploymentUid(`dep_${ids.ulid()}`)
  return {
    v: 1,
    uid,
    spec,
    revision: 1,
    specHash,
    createdAt: now,
    updatedAt: now,
    digest,
    slot,
    tx: transaction.id,
    deleting: false,
  }
}

function gatherQuotas(
  deps: DeploymentDeps,
  { tenant }: Caller,
  slot: SlotChoice,
  specBytes: number,
): QuotaFact[] {
  const bytes = gatherBytes(deps, tenant, specBytes)
  if (slot.kind !== 'full') return [bytes]
  const limit = deps.quotas.limit(tenant, KIND)
  return [{ kind: KIND, used: Math.max(deps.slots.used(tenant, KIND), limit), requested: 1, limit }, bytes]
}
