// POST /api/v1/deployments, in the steps of DESIGN 4: body rules, normalise, facts, fact rules, one transaction.

import type { DeploymentUid, Json, QuotaKind } from '@holdfast/contract'
import {
  admitDeployment,
  checkFacts,
  type ImageFact,
  type Normalised,
  parseImageReference,
  type QuotaFact,
} from '@holdfast/core'
import { timestamp } from '../../ports/clock.ts'
import { deployments, type StoredDeployment, slots } from '../../store/records.ts'
import { type SlotChoice, slotId } from '../../store/slots.ts'
import type { Decision } from '../../store/store.ts'
import { inTenant, type Transaction } from '../../store/transaction.ts'
import { type Caller, done, type Outcome, refused, refusedBy } from '../caller.ts'
import { holdSlot } from '../hold-slot.ts'
import { type Kept, keepOnce } from '../idempotency.ts'
import { requireLiveCaller } from '../require-live-caller.ts'
import { checkSpecSize } from './check-size.ts'
import { gatherRouteHolders } from './claim-routes.ts'
import { deploymentView } from './deployment-view.ts'
import type { DeploymentDeps } from './deps.ts'
import { gatherBytes, gatherDependencies, gatherImage } from './gather-facts.ts'
import { checkNodesReadable, gatherNode } from './gather-node.ts'
import { planCreate } from './plan.ts'
import { planPlacement } from './plan-placement.ts'
import { identifySpec, type SpecIdentity, storeRevision } from './store-deployment.ts'
import type { Written } from './written.ts'

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
  const verdict = admitDeployment(sent, { mode: 'create', ...deps.admission })
  if (!verdict.accepted) return refused(...verdict.rejections)
  const unread = await checkNodesReadable(deps, verdict.spec.nodeId)
  if (unread !== undefined) return unread
  const host = parseImageReference(verdict.spec.image)?.host ?? ''
  const image = await gatherImage(deps, caller, verdict.spec.image, host)
  const identity = identifySpec(verdict.spec)
  const oversized = checkSpecSize(identity)
  if (oversized.length > 0) return refused(...oversized)
  const held = holdSlot(deps, caller.tenant, KIND)
  try {
    return await deps.store.transact((transaction) =>
      decideCreate(deps, transaction, {
        caller,
        admitted: verdict,
        image,
        slot: held.choose(),
        identity,
        options,
      }),
    )
  } finally {
    held.release()
  }
}

interface Creating {
  readonly caller: Caller
  readonly admitted: Normalised
  readonly image: ImageFact
  readonly slot: SlotChoice
  readonly identity: SpecIdentity
  readonly options: CreateOptions
}

function decideCreate(
  deps: DeploymentDeps,
  transaction: Transaction,
  creating: Creating,
): Decision<Outcome<Written>> {
  const { caller, admitted, image, slot, options } = creating
  if (slot.kind === 'busy') return { kind: 'wait', until: slot.until }
  const gone = requireLiveCaller(transaction, caller)
  if (gone !== undefined) return { kind: 'refuse', result: refused(gone) }
  const { spec } = admitted
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
    quotas: gatherQuotas(deps, caller, slot, creating.identity.bytes),
  }
  const judged = checkFacts(spec, facts, { mode: 'create', limits: deps.admission.limits })
  if (judged.rejections.length > 0 || slot.kind === 'full')
    return { kind: 'refuse', result: refusedBy(judged) }
  const stored = newDeployment(deps, transaction, creating, judged.imageDigest, slot.slot)
  const written = {
    deployment: deploymentView(deps.store, caller.tenant, stored),
    alterations: [...admitted.alterations, ...judged.alterations],
    warnings: [...admitted.warnings, ...judged.warnings],
  }
  if (options.dryRun) {
    const plan = planCreate(planPlacement(deps, caller.tenant, spec, spec.replicas))
    return { kind: 'refuse', result: done({ ...written, plan }) }
  }
  const slotAddress = inTenant(caller.tenant, slots, slotId(KIND, slot.slot))
  transaction.requireAbsent(slotAddress)
  transaction.put(slotAddress, { v: 1, holder: stored.uid })
  storeRevision(deps, transaction, caller, stored)
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
  const uid = `dep_${ids.ulid()}` as DeploymentUid
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
