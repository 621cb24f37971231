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
  parseImageReference,
} from '@holdfast/core'
import { timestamp } from '../../ports/clock.ts'
import { deployments, type StoredDeployment } from '../../store/records.ts'
import type { Decision } from '../../store/store.ts'
import { inTenant, type Transaction } from '../../store/transaction.ts'
import { type Caller, done, type Outcome, refused, refusedBy } from '../caller.ts'
import { checkIfMatch } from '../check-if-match.ts'
import { requireLiveCaller } from '../require-live-caller.ts'
import { checkSpecSize } from './check-size.ts'
import { deploymentView } from './deployment-view.ts'
import type { DeploymentDeps } from './deps.ts'
import { addressedBy, nameOf } from './find-deployment.ts'
import { gatherBytes, gatherDependencies, gatherImage } from './gather-facts.ts'
import { checkNodesReadable, gatherNode } from './gather-node.ts'
import { planUpdate } from './plan.ts'
import { planPlacement } from './plan-placement.ts'
import { identifySpec, storeRevision } from './store-deployment.ts'
import type { Written } from './written.ts'

export interface UpdateOptions {
  readonly dryRun: boolean
  readonly ifMatch: string | undefined
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
    const image = await askedImage(deps, caller, pathName, sent)
    const outcome = await deps.store.transact((transaction) =>
      decideUpdate(deps, transaction, { caller, addressed, sent, image, options }),
    )
    if (outcome !== ASK_REGISTRY) return outcome
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
}

function decideUpdate(
  deps: DeploymentDeps,
  transaction: Transaction,
  updating: Updating,
): Decision<Outcome<Written> | typeof ASK_REGISTRY> {
  const judged = judgeUpdate(deps, transaction, updating)
  if (!judged.ok) return { kind: 'refuse', result: judged }
  if (updating.image === undefined && sentText(updating.sent, 'image') !== undefined)
    return { kind: 'refuse', result: ASK_REGISTRY }
  const { stored, next, alterations, warnings } = judged.value
  const written = {
    deployment: deploymentView(deps.store, updating.caller.tenant, next),
    alterations,
    warnings,
  }
  if (updating.options.dryRun) {
    const { desired, placed } = written.deployment.status.replicas
    const missing = Math.max(0, desired - placed)
    const placement = planPlacement(deps, updating.caller.tenant, next.spec, missing)
    const plan = planUpdate(stored.spec, next.spec, stored.revision, placement)
    return { kind: 'refuse', result: done({ ...written, plan }) }
  }
  // A PUT that changes nothing stores nothing: there is no new revision to archive or to report.
  if (next === stored) return { kind: 'refuse', result: done(written) }
  storeRevision(deps, transaction, updating.caller, next)
  return { kind: 'commit', result: done(written) }
}

interface JudgedUpdate extends Pick<Written, 'alterations' | 'warnings'> {
  readonly stored: StoredDeployment
  /** The same object where the update changes nothing. */
  readonly next: StoredDeployment
}

function judgeUpdate(
  deps: DeploymentDeps,
  transaction: Transaction,
  { caller, addressed, sent, image, options }: Updating,
): Outcome<JudgedUpdate> {
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
  const { spec, ...announced } = normalise(sent, existing.record)
  const identity = identifySpec(spec)
  const facts: Facts = {
    existing,
    quotas: identity.specHash === stored.specHash ? [] : [gatherBytes(deps, caller.tenant, identity.bytes)],
    ...(sent.dependsOn === undefined
      ? {}
      : { dependencies: gatherDependencies(transaction, caller.tenant, spec) }),
    ...(image === undefined ? {} : { image }),
    ...gatherNode(deps.store, transaction, caller.tenant, sentText(sent, 'nodeId')),
  }
  const judged = checkFacts(spec, facts, { mode: 'update', limits: deps.admission.limits })
  const oversized = checkSpecSize(identity)
  if (oversized.length > 0) return refused(...oversized, ...judged.rejections)
  if (judged.rejections.length > 0) return refusedBy(judged)
  return done({
    stored,
    next: nextRevision(deps, transaction, stored, { ...identity, spec, digest: judged.imageDigest }),
    alterations: [...announced.alterations, ...judged.alterations],
    warnings: [...announced.warnings, ...judged.warnings],
  })
}

function contextFor(
  { admission, store }: DeploymentDeps,
  { tenant }: Caller,
  name: string | undefined,
  stored: StoredDeployment | undefined,
): AdmissionContext {
  return {
    mode: 'update',
    ...admission,
    ...(name === undefined ? {} : { pathName: name }),
    ...(stored === undefined ? {} : { current: deploymentView(store, tenant, stored) }),
  }
}

function nextRevision(
  { clock }: DeploymentDeps,
  transaction: Transaction,
  stored: StoredDeployment,
  { spec, specHash, digest }: Pick<StoredDeployment, 'spec' | 'specHash' | 'digest'>,
): StoredDeployment {
  if (specHash === stored.specHash && digest === stored.digest) return stored
  const revision = stored.revision + 1
  return { ...stored, spec, specHash, digest, revision, updatedAt: timestamp(clock), tx: transaction.id }
}

/** The registry is asked only when `image` is sent (DECISIONS 3) and only for a body that is otherwise sound. */
async function askedImage(
  deps: DeploymentDeps,
  caller: Caller,
  pathName: string,
  sent: Json,
): Promise<ImageFact | undefined> {
  const image = sentText(sent, 'image')
  const host = image === undefined ? undefined : parseImageReference(image)?.host
  if (image === undefined || host === undefined) return undefined
  const name = nameOf(deps.store, caller.tenant, addressedBy(pathName))
  const stored =
    name === undefined ? undefined : deps.store.get(inTenant(caller.tenant, deployments, name))?.record
  if (checkBody(sent, contextFor(deps, caller, name, stored)).length > 0) return undefined
  return gatherImage(deps, caller, image, host)
}

function sentText(sent: Json, field: 'image' | 'nodeId'): string | undefined {
  const value = isJsonObject(sent) ? sent[field] : undefined
  return typeof value === 'string' ? value : undefined
}
