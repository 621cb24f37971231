// PUT /api/v1/deployments/{name}: a field that is sent replaces the stored one, a field that is not sent is unchanged.
// The body is checked against the record read in the same transaction, so a concurrent write reruns the decision.

import { defined, isJsonObject, type Json } from '@holdfast/contract'
import {
  type Addressed,
  type AdmissionContext,
  checkFound,
  type ImageFact,
  judgeBody,
  normalise,
  type Pins,
  parseImageReference,
} from '@holdfast/core'
import { timestamp } from '../../../ports/clock.ts'
import { declassify } from '../../../ports/taint.ts'
import { canaryPins } from '../../../scheduling/canary-target.ts'
import { CANARY_FORM } from '../../../store/records/collection.ts'
import { deployments, type StoredDeployment, type StoredScaling } from '../../../store/records.ts'
import type { TransactionDecision } from '../../../store/store.ts'
import { inTenant, type Transaction } from '../../../store/transaction.ts'
import { checkBackup, type RestoredBackup, restoredForm } from '../../backups/restored-backup.ts'
import { type Caller, done, type Outcome, refused } from '../../caller.ts'
import { type Kept, keepOnce } from '../../idempotency.ts'
import { checkIfMatch, requireLiveCaller } from '../../preconditions.ts'
import { scalingOfWrite, storedScaling, warnOfPolicy } from '../../scaling/scaling-of-write.ts'
import { type HasForm, type NeededForm, RAISE_FORM, writeInForm } from '../../write-in-form.ts'
import {
  announcedBy,
  type CanaryOfUpdate,
  judgeSteps,
  ofChange,
  writtenRecord,
} from '../canary/canary-of-update.ts'
import { storeCanary } from '../canary/stage-canary.ts'
import type { DeploymentDeps } from '../deps.ts'
import { deploymentView } from '../read/deployment-view.ts'
import { addressedBy, nameOf } from '../read/find-deployment.ts'
import { gatherBytes, gatherImage } from './gather-facts.ts'
import { checkNodesReadable } from './gather-node.ts'
import {
  consumeStaged,
  gatherSecrets,
  materialPermission,
  type SecretsOfWrite,
  samePins,
  storedPins,
} from './judge-secrets.ts'
import { judgeValidPart, sendsPlace, textOf } from './judge-valid-part.ts'
import { followMounts, type JudgedWrite, judgeWrite } from './judge-write.ts'
import { changedFields } from './plan.ts'
import { stopFirstOf } from './stop-first.ts'
import { identifySpec, type RevisionCause, storeRevision } from './store-deployment.ts'
import { type MaterialNeeded, type StagingState, writeWithMaterial } from './write-with-material.ts'
import type { Written } from './written.ts'

export interface UpdateOptions extends CanaryOfUpdate {
  readonly ifMatch: string | undefined
  /** Set if the update is a rollback or restores a backup; both send every field. */
  readonly rollback?: Rollback
}

export interface Rollback extends Kept<Written> {
  /** Number of the revision whose spec is stored again. */
  readonly revision: number
  /** The image digest of that revision; undefined if no registry had resolved it. */
  readonly digest: string | undefined
  /** The backup that contains the spec; absent if the spec comes from the archive. */
  readonly backup?: RestoredBackup
}

export async function updateDeployment(
  deps: DeploymentDeps,
  caller: Caller,
  pathName: string,
  sent: Json,
  options: UpdateOptions,
): Promise<Outcome<Written>> {
  const addressed = addressedBy(pathName)
  const unreadable = await checkNodesReadable(deps, textOf(sent, 'nodeId'))
  if (unreadable !== undefined) return unreadable
  return writeInForm(deps.store, formOf(options), async (hasForm) => {
    for (;;) {
      const image = await resolveSentImage(deps, caller, pathName, sent, archivedDigest(options))
      const outcome = await writeWithMaterial(deps, caller, (transaction, staging) =>
        decideUpdate(deps, transaction, { caller, addressed, sent, image, options, staging, hasForm }),
      )
      if (outcome !== ASK_REGISTRY) return outcome
    }
  })
}

const formOf = ({ canary, rollback }: UpdateOptions): NeededForm | undefined =>
  canary === undefined ? restoredForm(rollback?.backup) : { v: CANARY_FORM, of: 'canaries' }

/**
 * Result of a decision that must be repeated after the server has asked the registry. The registry was not asked before,
 * because the body had faults against the cached record; against the current record the body has no faults.
 */
const ASK_REGISTRY = 'ask the registry'

/** The digest that the update must run, whatever the tag of the image points to by now. */
const archivedDigest = ({ rollback, promotion }: UpdateOptions): string | undefined =>
  (rollback ?? promotion)?.digest

interface UpdateRequest {
  readonly caller: Caller
  readonly addressed: Addressed
  readonly sent: Json
  readonly image: ImageFact | undefined
  readonly options: UpdateOptions
  readonly staging: StagingState
  readonly hasForm: HasForm
}

function decideUpdate(
  deps: DeploymentDeps,
  transaction: Transaction,
  request: UpdateRequest,
): TransactionDecision<Outcome<Written> | typeof ASK_REGISTRY | typeof RAISE_FORM | MaterialNeeded> {
  const judged = judgeUpdate(deps, transaction, request)
  const { caller, sent, image, options, staging, hasForm } = request
  if (!judged.ok) return { kind: 'abort', result: options.canary === undefined ? judged : ofChange(judged) }
  if (image === undefined && textOf(sent, 'image') !== undefined)
    return { kind: 'abort', result: ASK_REGISTRY }
  const { stored, secrets, unresolved } = judged.value
  const invalid = judgeSteps(transaction, caller, options, judged.value)
  if (invalid.length > 0) return { kind: 'abort', result: refused(...invalid) }
  if (!hasForm(transaction)) return { kind: 'abort', result: RAISE_FORM }
  const next = writtenRecord(deps, sent, options, judged.value)
  const { alterations: announced, warnings } = announcedBy(judged.value, next, options)
  const isRolledOut = next !== stored && options.canary === undefined
  const alterations = isRolledOut ? [...announced, ...stopFirstOf(deps, caller.tenant, next)] : announced
  if (secrets.busy !== undefined) return { kind: 'wait', until: secrets.busy }
  if (!consumeStaged(transaction, next.spec, secrets, staging.staged))
    return { kind: 'abort', result: { needed: secrets.needed } }
  const written = { deployment: deploymentView(deps.store, caller.tenant, next), alterations, warnings }
  // A PUT that changes nothing succeeds without a new revision, so there is nothing to commit.
  if (next === stored) return { kind: 'abort', result: done(written) }
  if (options.canary !== undefined) {
    storeCanary(deps, transaction, caller, stored, next, secrets)
    return keepOnce(deps.answers, transaction, caller, options.canary, written)
  }
  const cause = describeUpdate(stored, next, options)
  const { newVersions } = secrets
  const backup = options.rollback?.backup
  storeRevision(deps, transaction, caller, next, { cause, newVersions, unresolved, ...defined({ backup }) })
  const once = options.rollback ?? options.promotion
  if (once === undefined) return { kind: 'commit', result: done(written) }
  return keepOnce(deps.answers, transaction, caller, once, written)
}

function describeUpdate(
  stored: StoredDeployment,
  { spec, revision }: StoredDeployment,
  { rollback, promotion }: UpdateOptions,
): RevisionCause {
  const fields = changedFields(stored.spec, spec).map(({ field }) => field)
  const listed = fields.length === 0 ? '' : ` (${fields.join(', ')})`
  if (promotion !== undefined)
    return {
      verb: 'promoted',
      message: `The canary of deployment ${spec.name} was promoted, revision ${revision}${listed}.`,
      data: { fields },
    }
  if (rollback === undefined)
    return {
      verb: 'updated',
      message: `Deployment ${spec.name} was updated, revision ${revision}${listed}.`,
      data: { fields },
    }
  const { backup } = rollback
  if (backup !== undefined)
    return {
      verb: 'restored',
      message: `Deployment ${spec.name} was restored from backup ${backup.id}, stored as revision ${revision}${listed}.`,
      data: { fields, backup: backup.id },
    }
  return {
    verb: 'rolled_back',
    message: `Deployment ${spec.name} was rolled back to revision ${rollback.revision}, stored as revision ${revision}${listed}.`,
    data: { fields, restored: rollback.revision },
  }
}

interface JudgedUpdate extends Omit<JudgedWrite, 'imageDigest'> {
  readonly stored: StoredDeployment
  /** The deployment after the update; the same object as `stored` if the update changes nothing. */
  readonly next: StoredDeployment
  readonly secrets: SecretsOfWrite
}

function judgeUpdate(
  deps: DeploymentDeps,
  transaction: Transaction,
  { caller, addressed, sent, image, options, staging }: UpdateRequest,
): Outcome<JudgedUpdate> {
  const { rollback, promotion } = options
  const gone =
    requireLiveCaller(transaction, caller) ?? checkBackup(transaction, caller.tenant, rollback?.backup)
  if (gone !== undefined) return refused(gone)
  const name = nameOf(deps.store, caller.tenant, addressed)
  const stored = name === undefined ? undefined : transaction.get(inTenant(caller.tenant, deployments, name))
  const context = contextFor(deps, caller, name, stored)
  const { rejections, valid } = judgeBody(sent, context)
  const missing = checkFound(addressed, stored)
  if (rejections.length > 0 || !isJsonObject(sent)) {
    if (valid === undefined) return refused(...rejections)
    if (stored === undefined || missing.length > 0) return refused(...rejections, ...missing)
    declassify(JSON.stringify(stored.spec))
    const updated = { stored, current: context.current }
    return refused(...rejections, ...judgeValidPart(deps, transaction, caller, { valid, image, updated }))
  }
  if (stored === undefined || missing.length > 0) return refused(...missing)
  const conflict = checkIfMatch(options.ifMatch, stored.revision)
  if (conflict !== undefined) return refused(conflict)
  declassify(JSON.stringify(stored.spec))
  const merged = (deps.normalise ?? normalise)(
    sent,
    context.current,
    deps.admission.limits,
    rollback === undefined ? 'fields' : 'spec',
  )
  const { normalised, identity } = followMounts(
    transaction,
    caller.tenant,
    { normalised: merged, identity: identifySpec(merged.spec) },
    stored,
  )
  const { spec, material } = normalised
  const tried = promotion && stored.canary && canaryPins(stored, stored.canary)
  const question = { spec, material, before: stored, ...defined({ restored: rollback?.backup, tried }) }
  const secrets = gatherSecrets(deps, transaction, caller.tenant, question, staging)
  // New secret values for a secret anchored to a volume change no pin, but a new revision must still list their version.
  const always = rollback !== undefined || promotion !== undefined || secrets.needed.length > 0
  const { pins } = secrets
  // A write that adds no bytes passes a full quota: a tenant can always stop a deployment or make its spec smaller.
  const isLarger = options.canary !== undefined || identity.bytes > identifySpec(stored.spec).bytes
  const policy = scalingOfWrite(deps, spec, stored, rollback?.backup)
  if (!policy.ok) return policy
  const scaling = policy.value
  const unchanged = identity.specHash === stored.specHash && samePins(pins, stored.pins) && !always
  const judged = judgeWrite(deps, transaction, caller, {
    mode: 'update',
    normalised,
    identity,
    secrets,
    stored,
    sendsDependsOn: sent.dependsOn !== undefined,
    sentNodeId: textOf(sent, 'nodeId'),
    sendsPlace: sendsPlace(sent),
    ...defined({ mostReplicas: scaling?.policy.max }),
    image,
    archivedDigest: archivedDigest(options),
    restores: rollback?.backup !== undefined,
    quotas: unchanged || !isLarger ? [] : [gatherBytes(deps, caller.tenant, identity.bytes)],
  })
  if (!judged.ok) return judged
  const { imageDigest: digest, ...announced } = judged.value
  const { specHash } = identity
  const next = nextRevision(deps, transaction, stored, { specHash, spec, digest, always, pins, scaling })
  const warnings = [...announced.warnings, ...warnOfPolicy(scaling, stored.spec, spec)]
  return done({ ...announced, warnings, stored, next, secrets })
}

function contextFor(
  { admission, store }: DeploymentDeps,
  caller: Caller,
  name: string | undefined,
  stored: StoredDeployment | undefined,
): AdmissionContext {
  return {
    mode: 'update',
    ...admission,
    ...materialPermission(caller),
    ...defined({
      pathName: name,
      current: stored && deploymentView(store, caller.tenant, stored),
    }),
  }
}

function nextRevision(
  { clock }: DeploymentDeps,
  transaction: Transaction,
  stored: StoredDeployment,
  { always, pins, scaling, ...changed }: NextRevision,
): StoredDeployment {
  const same = changed.specHash === stored.specHash && changed.digest === stored.digest
  if (!always && same && samePins(pins, stored.pins)) return stored
  const { pins: _before, scaling: _policy, ...kept } = stored
  const revision = stored.revision + 1
  return {
    ...kept,
    ...changed,
    ...storedPins(pins),
    ...storedScaling(scaling),
    revision,
    updatedAt: timestamp(clock),
    tx: transaction.id,
  }
}

interface NextRevision extends Pick<StoredDeployment, 'spec' | 'specHash' | 'digest'> {
  readonly pins: Pins
  readonly scaling: StoredScaling | undefined
  /** True to create a new revision even if nothing changes. */
  readonly always: boolean
}

/** Asks the registry for the image, only if `image` is sent and has no faults. */
async function resolveSentImage(
  deps: DeploymentDeps,
  caller: Caller,
  pathName: string,
  sent: Json,
  archivedDigest: string | undefined,
): Promise<ImageFact | undefined> {
  const image = textOf(sent, 'image')
  const parsed = image === undefined ? undefined : parseImageReference(image)
  if (image === undefined || parsed === undefined) return undefined
  const { host, repository } = parsed
  const name = nameOf(deps.store, caller.tenant, addressedBy(pathName))
  const stored =
    name === undefined ? undefined : deps.store.get(inTenant(caller.tenant, deployments, name))?.record
  const { valid } = judgeBody(sent, contextFor(deps, caller, name, stored))
  if (valid === undefined || textOf(valid.fields, 'image') === undefined) return undefined
  // A rollback runs the archived digest, so that digest must exist in the registry; the tag may point elsewhere by now.
  const reference = archivedDigest === undefined ? image : `${host}/${repository}@${archivedDigest}`
  return gatherImage(deps, caller, reference, host)
}
