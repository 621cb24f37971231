// PUT /api/v1/deployments/{name}: a field that is sent replaces, one that is not stays (SPEC 1, DECISIONS 2). Body rules
// judge against the record as it is in the same transaction, so a racing write sends the decision back.

import { isJsonObject, type Json } from '@holdfast/contract'
import {
  type Addressed,
  type AdmissionContext,
  checkBody,
  checkFacts,
  checkFound,
  type Facts,
  type ImageFact,
  normalise,
  type Pins,
  parseImageReference,
} from '@holdfast/core'
import { timestamp } from '../../../ports/clock.ts'
import { declassify } from '../../../ports/taint.ts'
import { deployments, type StoredDeployment } from '../../../store/records.ts'
import type { Decision } from '../../../store/store.ts'
import { inTenant, type Transaction } from '../../../store/transaction.ts'
import { type Caller, done, type Outcome, refused, refusedBy } from '../../caller.ts'
import { checkIfMatch } from '../../check-if-match.ts'
import { type Kept, keepOnce } from '../../idempotency.ts'
import { requireLiveCaller } from '../../require-live-caller.ts'
import type { DeploymentDeps } from '../deps.ts'
import { deploymentView } from '../read/deployment-view.ts'
import { addressedBy, nameOf } from '../read/find-deployment.ts'
import { checkRoom, checkSpecSize } from './check-size.ts'
import { gatherRouteHolders } from './claim-routes.ts'
import {
  gatherBytes,
  gatherDependencies,
  gatherDependents,
  gatherImage,
  unresolvedBy,
} from './gather-facts.ts'
import { checkNodesReadable, gatherNode } from './gather-node.ts'
import { gatherResidency } from './gather-residency.ts'
import {
  gatherSecrets,
  mayBring,
  type SecretsOfWrite,
  samePins,
  storedPins,
  takeMaterial,
} from './judge-secrets.ts'
import { changedFields } from './plan.ts'
import { type Asked, identifySpec, storeRevision } from './store-deployment.ts'
import { type InHand, type MaterialWanted, writeWithMaterial } from './write-with-material.ts'
import { type DecidedWrite, type Written, withPlan } from './written.ts'

export interface UpdateOptions {
  readonly dryRun: boolean
  readonly ifMatch: string | undefined
  /** Of a rollback, which is such an update with every field sent. */
  readonly rollback?: Rollback
}

export interface Rollback extends Kept<Written> {
  /** The archived revision that is sent again. */
  readonly revision: number
  /** What that revision ran; undefined where no registry had answered for it. */
  readonly digest: string | undefined
}

export async function updateDeployment(
  deps: DeploymentDeps,
  caller: Caller,
  pathName: string,
  sent: Json,
  options: UpdateOptions,
): Promise<Outcome<Written>> {
  const addressed = addressedBy(pathName)
  const unread = await checkNodesReadable(deps, sentText(sent, 'nodeId'))
  if (unread !== undefined) return unread
  for (;;) {
    const image = await askedImage(deps, caller, pathName, sent, options.rollback?.digest)
    const outcome = await writeWithMaterial(deps, caller, options, (transaction, hand) =>
      decideUpdate(deps, transaction, { caller, addressed, sent, image, options, hand }),
    )
    if (outcome !== ASK_REGISTRY) return withPlan(deps, caller.tenant, outcome)
  }
}

/** Against the record that the cache showed first the body had faults, so nobody asked; against the true one it has none. */
const ASK_REGISTRY = 'ask the registry'

interface Updating {
  readonly caller: Caller
  readonly addressed: Addressed
  readonly sent: Json
  readonly image: ImageFact | undefined
  readonly options: UpdateOptions
  readonly hand: InHand
}

function decideUpdate(
  deps: DeploymentDeps,
  transaction: Transaction,
  updating: Updating,
): Decision<Outcome<DecidedWrite> | typeof ASK_REGISTRY | MaterialWanted> {
  const judged = judgeUpdate(deps, transaction, updating)
  if (!judged.ok) return { kind: 'abort', result: judged }
  if (updating.image === undefined && sentText(updating.sent, 'image') !== undefined)
    return { kind: 'abort', result: ASK_REGISTRY }
  const { stored, next, secrets, alterations, warnings, unresolved } = judged.value
  if (secrets.busy !== undefined) return { kind: 'wait', until: secrets.busy }
  if (!takeMaterial(transaction, next.spec, secrets, updating.hand.made))
    return { kind: 'abort', result: { wanted: secrets.wanted } }
  const written = {
    deployment: deploymentView(deps.store, updating.caller.tenant, next),
    alterations,
    warnings,
  }
  const { caller, options } = updating
  if (options.dryRun)
    return { kind: 'abort', result: done({ ...written, toPlan: { stored, next, restart: false } }) }
  // A PUT that changes nothing stores nothing: there is no new revision to archive or to report.
  if (next === stored) return { kind: 'abort', result: done(written) }
  const asked = askedFor(stored, next, options.rollback)
  storeRevision(deps, transaction, caller, next, { asked, brought: secrets.brought, unresolved })
  if (options.rollback === undefined) return { kind: 'commit', result: done(written) }
  return keepOnce(deps.answers, transaction, caller, options.rollback, written)
}

function askedFor(
  stored: StoredDeployment,
  { spec, revision }: StoredDeployment,
  rollback?: Rollback,
): Asked {
  const fields = changedFields(stored.spec, spec).map(({ field }) => field)
  const named = fields.length === 0 ? '' : ` (${fields.join(', ')})`
  const data = { fields }
  if (rollback === undefined)
    return {
      verb: 'updated',
      message: `Deployment ${spec.name} was updated, revision ${revision}${named}.`,
      data,
    }
  const message = `Deployment ${spec.name} was rolled back to revision ${rollback.revision}, revision ${revision}${named}.`
  return { verb: 'rolled_back', message, data: { ...data, restored: rollback.revision } }
}

interface JudgedUpdate extends Pick<Written, 'alterations' | 'warnings'> {
  readonly stored: StoredDeployment
  /** The same object where the update changes nothing. */
  readonly next: StoredDeployment
  readonly secrets: SecretsOfWrite
  /** Why no registry has said what the image is. */
  readonly unresolved: string | undefined
}

function judgeUpdate(
  deps: DeploymentDeps,
  transaction: Transaction,
  { caller, addressed, sent, image, options, hand }: Updating,
): Outcome<JudgedUpdate> {
  const { rollback } = options
  const gone = requireLiveCaller(transaction, caller)
  if (gone !== undefined) return refused(gone)
  const name = nameOf(deps.store, caller.tenant, addressed)
  const stored = name === undefined ? undefined : transaction.get(inTenant(caller.tenant, deployments, name))
  const faults = checkBody(sent, contextFor(deps, caller, name, stored))
  if (faults.length > 0 || !isJsonObject(sent)) return refused(...faults)
  const existing = stored && {
    record: deploymentView(deps.store, caller.tenant, stored),
    deleting: stored.deleting,
  }
  const missing = checkFound(addressed, existing)
  if (stored === undefined || existing === undefined || missing.length > 0) return refused(...missing)
  const conflict = checkIfMatch(options.ifMatch, stored.revision)
  if (conflict !== undefined) return refused(conflict)
  declassify(JSON.stringify(stored.spec))
  const { spec, material, ...announced } = (deps.normalise ?? normalise)(
    sent,
    existing.record,
    deps.admission.limits,
  )
  const identity = identifySpec(spec)
  const question = { spec, material, before: stored }
  const secrets = gatherSecrets(deps, transaction, caller.tenant, question, hand)
  // What an anchored entry brings moves no pin (DECISIONS 5), and is listed by a revision all the same.
  const always = rollback !== undefined || secrets.wanted.length > 0
  const unchanged = identity.specHash === stored.specHash && samePins(secrets.pins, stored.pins) && !always
  const facts: Facts = {
    existing,
    credentials: secrets.facts,
    quotas: [...(unchanged ? [] : [gatherBytes(deps, caller.tenant, identity.bytes)]), ...secrets.quotas],
    ...(sent.dependsOn === undefined
      ? {}
      : { dependencies: gatherDependencies(transaction, caller.tenant, spec) }),
    dependents: gatherDependents(deps.store, caller.tenant, spec, stored.spec),
    ...(image === undefined ? {} : { image }),
    ...(rollback?.digest === undefined ? {} : { archivedDigest: rollback.digest }),
    ...gatherNode(deps.store, transaction, caller.tenant, sentText(sent, 'nodeId')),
    routeHolders: gatherRouteHolders(transaction, caller.tenant, spec, stored),
    ...gatherResidency(deps, caller.tenant, spec),
  }
  const judged = checkFacts(spec, facts, { mode: 'update', limits: deps.admission.limits }, material)
  const oversized = checkSpecSize(identity)
  if (oversized.length > 0) return refused(...oversized, ...judged.rejections)
  if (judged.rejections.length > 0) return refusedBy(judged)
  const dependencies = facts.dependencies?.size ?? 0
  const unresolved = unresolvedBy(judged)
  const crowded = checkRoom({ spec, before: stored.spec, secrets, dependencies, unresolved })
  if (crowded.length > 0) return refused(...crowded)
  const { pins } = secrets
  return done({
    ...{ stored, secrets, unresolved },
    next: nextRevision(deps, transaction, stored, {
      ...{ specHash: identity.specHash, spec, digest: judged.imageDigest, always, pins },
    }),
    alterations: [...announced.alterations, ...judged.alterations, ...secrets.alterations],
    warnings: [...announced.warnings, ...judged.warnings],
  })
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
    ...mayBring(caller),
    ...(name === undefined ? {} : { pathName: name }),
    ...(stored === undefined ? {} : { current: deploymentView(store, caller.tenant, stored) }),
  }
}

function nextRevision(
  { clock }: DeploymentDeps,
  transaction: Transaction,
  stored: StoredDeployment,
  { always, pins, ...changed }: NextRevision,
): StoredDeployment {
  const same = changed.specHash === stored.specHash && changed.digest === stored.digest
  if (!always && same && samePins(pins, stored.pins)) return stored
  const { pins: _before, ...kept } = stored
  const revision = stored.revision + 1
  return {
    ...kept,
    ...changed,
    ...storedPins(pins),
    revision,
    updatedAt: timestamp(clock),
    tx: transaction.id,
  }
}

interface NextRevision extends Pick<StoredDeployment, 'spec' | 'specHash' | 'digest'> {
  readonly pins: Pins
  /** Also where nothing would be another. */
  readonly always: boolean
}

/** The registry is asked only when `image` is sent (DECISIONS 3) and only for a body that is otherwise sound. */
async function askedImage(
  deps: DeploymentDeps,
  caller: Caller,
  pathName: string,
  sent: Json,
  archivedDigest: string | undefined,
): Promise<ImageFact | undefined> {
  const image = sentText(sent, 'image')
  const parsed = image === undefined ? undefined : parseImageReference(image)
  if (image === undefined || parsed === undefined) return undefined
  const { host, repository } = parsed
  const name = nameOf(deps.store, caller.tenant, addressedBy(pathName))
  const stored =
    name === undefined ? undefined : deps.store.get(inTenant(caller.tenant, deployments, name))?.record
  if (checkBody(sent, contextFor(deps, caller, name, stored)).length > 0) return undefined
  // What will run is what must be there: a tag may have moved since the revision was archived.
  const wanted = archivedDigest === undefined ? image : `${host}/${repository}@${archivedDigest}`
  return gatherImage(deps, caller, wanted, host)
}

function sentText(sent: Json, field: 'image' | 'nodeId'): string | undefined {
  const value = isJsonObject(sent) ? sent[field] : undefined
  return typeof value === 'string' ? value : undefined
}
