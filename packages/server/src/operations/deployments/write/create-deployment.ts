// POST /api/v1/deployments, in the steps of DESIGN 4: body rules, normalise, facts, fact rules, one transaction.

import { asDeploymentUid, isJsonObject, type Json, type QuotaKind } from '@holdfast/contract'
import {
  checkBody,
  checkFacts,
  type ImageFact,
  type Normalised,
  normalise,
  parseImageReference,
  type QuotaFact,
} from '@holdfast/core'
import { timestamp } from '../../../ports/clock.ts'
import { holdSlot, takeSlot } from '../../../quotas/hold-slot.ts'
import type { SlotChoice } from '../../../quotas/slots.ts'
import { deployments, type StoredDeployment } from '../../../store/records.ts'
import type { Decision } from '../../../store/store.ts'
import { inTenant, type Transaction } from '../../../store/transaction.ts'
import { type Caller, done, type Outcome, refused, refusedBy } from '../../caller.ts'
import { type Kept, keepOnce } from '../../idempotency.ts'
import { requireLiveCaller } from '../../require-live-caller.ts'
import type { DeploymentDeps } from '../deps.ts'
import { deploymentView } from '../read/deployment-view.ts'
import { checkRoom, checkSpecSize } from './check-size.ts'
import { gatherRouteHolders } from './claim-routes.ts'
import { gatherBytes, gatherDependencies, gatherImage, unresolvedBy } from './gather-facts.ts'
import { checkNodesReadable, gatherNode } from './gather-node.ts'
import { gatherResidency } from './gather-residency.ts'
import { gatherSecrets, mayBring, storedPins, takeMaterial } from './judge-secrets.ts'
import { identifySpec, type SpecIdentity, storeRevision } from './store-deployment.ts'
import { type InHand, type MaterialWanted, writeWithMaterial } from './write-with-material.ts'
import { type DecidedWrite, type Written, withPlan } from './written.ts'

export interface CreateOptions extends Kept<Written> {
  readonly dryRun: boolean
}

const KIND: QuotaKind = 'deployments'

export async function createDeployment(
  deps: DeploymentDeps,
  caller: Caller,
  sent: Json,
  options: CreateOptions,
): Promise<Outcome<Written>> {
  const faults = checkBody(sent, { mode: 'create', ...deps.admission, ...mayBring(caller) })
  if (faults.length > 0 || !isJsonObject(sent)) return refused(...faults)
  const admitted = (deps.normalise ?? normalise)(sent, undefined, deps.admission.limits)
  const { spec } = admitted
  const unread = await checkNodesReadable(deps, spec.nodeId)
  if (unread !== undefined) return unread
  const host = parseImageReference(spec.image)?.host ?? ''
  const image = await gatherImage(deps, caller, spec.image, host)
  const identity = identifySpec(spec)
  const oversized = checkSpecSize(identity)
  if (oversized.length > 0) return refused(...oversized)
  const held = holdSlot(deps, caller.tenant, KIND)
  const outcome = await writeWithMaterial(deps, caller, options, (transaction, hand) => {
    const slot = held.choose()
    return decideCreate(deps, transaction, { caller, admitted, image, slot, identity, options, hand })
  }).finally(() => held.release())
  return withPlan(deps, caller.tenant, outcome)
}

interface Creating {
  readonly caller: Caller
  readonly admitted: Normalised
  readonly image: ImageFact
  readonly slot: SlotChoice
  readonly identity: SpecIdentity
  readonly options: CreateOptions
  readonly hand: InHand
}

function decideCreate(
  deps: DeploymentDeps,
  transaction: Transaction,
  creating: Creating,
): Decision<Outcome<DecidedWrite> | MaterialWanted> {
  const { caller, admitted, image, slot, options, hand } = creating
  if (slot.kind === 'busy') return { kind: 'wait', until: slot.until }
  const gone = requireLiveCaller(transaction, caller)
  if (gone !== undefined) return { kind: 'abort', result: refused(gone) }
  const { spec, material } = admitted
  const question = { spec, material, before: undefined }
  const secrets = gatherSecrets(deps, transaction, caller.tenant, question, hand)
  if (secrets.busy !== undefined) return { kind: 'wait', until: secrets.busy }
  const existing = transaction.get(inTenant(caller.tenant, deployments, spec.name))
  const facts = {
    existing: existing && {
      record: deploymentView(deps.store, caller.tenant, existing),
      deleting: existing.deleting,
    },
    dependencies: gatherDependencies(transaction, caller.tenant, spec),
    image,
    ...gatherNode(deps.store, transaction, caller.tenant, spec.nodeId),
    routeHolders: gatherRouteHolders(transaction, caller.tenant, spec, undefined),
    ...gatherResidency(deps, caller.tenant, spec),
    credentials: secrets.facts,
    quotas: [...gatherQuotas(deps, caller, slot, creating.identity.bytes), ...secrets.quotas],
  }
  const judged = checkFacts(spec, facts, { mode: 'create', limits: deps.admission.limits }, material)
  if (judged.rejections.length > 0 || slot.kind === 'full')
    return { kind: 'abort', result: refusedBy(judged) }
  const unresolved = unresolvedBy(judged)
  const dependencies = facts.dependencies.size
  const crowded = checkRoom({ spec, before: undefined, secrets, dependencies, unresolved })
  if (crowded.length > 0) return { kind: 'abort', result: refused(...crowded) }
  if (!takeMaterial(transaction, spec, secrets, hand.made))
    return { kind: 'abort', result: { wanted: secrets.wanted } }
  const made = newDeployment(deps, transaction, creating, judged.imageDigest, slot.slot)
  const stored = { ...made, ...storedPins(secrets.pins) }
  const written = {
    deployment: deploymentView(deps.store, caller.tenant, stored),
    alterations: [...admitted.alterations, ...judged.alterations, ...secrets.alterations],
    warnings: [...admitted.warnings, ...judged.warnings],
  }
  if (options.dryRun) {
    const toPlan = { stored: undefined, next: stored, restart: false }
    return { kind: 'abort', result: done({ ...written, toPlan }) }
  }
  takeSlot(transaction, caller.tenant, KIND, slot.slot, stored.uid)
  storeRevision(deps, transaction, caller, stored, { brought: secrets.brought, unresolved })
  return keepOnce(deps.answers, transaction, caller, options, written)
}

function newDeployment(
  { clock, ids }: DeploymentDeps,
  transaction: Transaction,
  { admitted: { spec }, identity: { specHash } }: Creating,
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
