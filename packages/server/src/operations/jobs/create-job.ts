// POST /jobs, by the rules of a deployment and in the same order: the body, its normalization, the facts, one transaction
// (docs/design/admission.md#order). The controller then assigns the first attempt to a node.

import {
  asJobId,
  consumerOf,
  isJsonObject,
  isNodeId,
  type JobSpec,
  type Json,
  type QuotaKind,
  type WrittenJob,
} from '@holdfast/contract'
import {
  type ImageFact,
  JOB_BODY,
  judgeBody,
  type NodeFact,
  type Normalised,
  type NormalisedJob,
  normaliseJob,
  parseImageReference,
  type QuotaFact,
  reject,
  workloadSpec,
} from '@holdfast/core'
import { timestamp } from '../../ports/clock.ts'
import { claimSlot, holdSlot } from '../../quotas/hold-slot.ts'
import type { SlotChoice } from '../../quotas/slots.ts'
import { JOB_FORM } from '../../store/records/collection.ts'
import { jobs, nodes, type StoredJob } from '../../store/records.ts'
import { StoreUnavailableError, type TransactionDecision } from '../../store/store.ts'
import { inTenant, type Transaction } from '../../store/transaction.ts'
import { type Caller, type Outcome, type Refused, refused, refusedBy } from '../caller.ts'
import type { DeploymentDeps } from '../deployments/deps.ts'
import { checkSpecSize } from '../deployments/write/check-size.ts'
import { claimNetworks } from '../deployments/write/claim-networks.ts'
import { claimForJob } from '../deployments/write/claim-volumes.ts'
import { gatherBytes, gatherImage } from '../deployments/write/gather-facts.ts'
import {
  consumeStaged,
  gatherSecrets,
  materialPermission,
  requirePersistable,
  type SecretsOfWrite,
  storedPins,
} from '../deployments/write/judge-secrets.ts'
import { followMounts, type JudgedWrite, judgeWrite } from '../deployments/write/judge-write.ts'
import { identifySpec, type SpecIdentity } from '../deployments/write/store-deployment.ts'
import {
  type MaterialNeeded,
  type StagingState,
  writeWithMaterial,
} from '../deployments/write/write-with-material.ts'
import { type Kept, keepOnce } from '../idempotency.ts'
import { requireLiveCaller } from '../preconditions.ts'
import { recordAudit, recordEvent } from '../record-write.ts'
import { claimCredentials, emitSecretWritten, labelsOf } from '../secrets/versions/claim-credentials.ts'
import { type HasForm, RAISE_FORM, writeInForm } from '../write-in-form.ts'
import { jobCreatedEvent } from './job-events.ts'
import { jobView } from './job-view.ts'

const KIND: QuotaKind = 'jobs_running'

export async function createJob(
  deps: DeploymentDeps,
  caller: Caller,
  sent: Json,
  kept: Kept<WrittenJob>,
): Promise<Outcome<WrittenJob>> {
  const context = { mode: 'create' as const, ...deps.admission, ...materialPermission(caller) }
  const { rejections } = judgeBody(sent, context, JOB_BODY)
  if (rejections.length > 0 || !isJsonObject(sent)) return refused(...rejections)
  const normalised = normaliseJob(sent, deps.admission.limits)
  const unreadable = await checkNodesReadable(deps, caller, normalised.spec)
  if (unreadable !== undefined) return unreadable
  const { host = '' } = parseImageReference(normalised.spec.image) ?? {}
  const image = await gatherImage(deps, caller, normalised.spec.image, host)
  const identity = identifySpec(workloadSpec(normalised.spec))
  const oversized = checkSpecSize(identity)
  if (oversized.length > 0) return refused(...oversized)
  const held = holdSlot(deps, caller.tenant, KIND)
  return writeInForm(deps.store, { v: JOB_FORM, of: 'jobs' }, (hasForm) =>
    writeWithMaterial(deps, caller, (transaction, staging) =>
      decideCreate(deps, transaction, {
        ...{ caller, sent: normalised, image, slot: held.choose(), identity, kept, staging, hasForm },
      }),
    ),
  ).finally(() => held.release())
}

/** A job needs a connected agent, so it is rejected with its own code while the nodes cannot be read. */
async function checkNodesReadable(
  { store }: Pick<DeploymentDeps, 'store'>,
  { tenant }: Caller,
  { nodeId }: JobSpec,
): Promise<Refused | undefined> {
  const unresolvable = (): Refused =>
    refusedBy({
      rejections: [reject('job_node_candidates_unresolvable', 'nodeId', nodeId)],
      alternative: true,
    })
  try {
    await store.fresh()
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error
    return unresolvable()
  }
  const isReadable = store.list(nodes, tenant).length === store.keysOf(nodes, tenant).length
  return isReadable ? undefined : unresolvable()
}

interface CreateRequest {
  readonly caller: Caller
  readonly sent: NormalisedJob
  readonly image: ImageFact
  readonly slot: SlotChoice
  readonly identity: SpecIdentity
  readonly kept: Kept<WrittenJob>
  readonly staging: StagingState
  readonly hasForm: HasForm
}

function decideCreate(
  deps: DeploymentDeps,
  transaction: Transaction,
  request: CreateRequest,
): TransactionDecision<Outcome<WrittenJob> | MaterialNeeded | typeof RAISE_FORM> {
  const { caller, slot, staging, hasForm } = request
  if (slot.kind === 'busy') return { kind: 'wait', until: slot.until }
  const gone = requireLiveCaller(transaction, caller)
  if (gone !== undefined) return { kind: 'abort', result: refused(gone) }
  const id = asJobId(`job_${deps.ids.ulid()}`)
  const consumer = consumerOf('job', id)
  const { normalised, identity, spec } = followed(transaction, request)
  const workload = normalised.spec
  const secrets = gatherSecrets(
    deps,
    transaction,
    caller.tenant,
    { spec: workload, material: normalised.material, before: undefined, consumer },
    staging,
  )
  if (secrets.busy !== undefined) return { kind: 'wait', until: secrets.busy }
  const judged = judgeWrite(deps, transaction, caller, {
    mode: 'create',
    ...{ normalised, identity, secrets, image: request.image, stored: undefined },
    ...{ sendsDependsOn: false, sentNodeId: undefined, sendsPlace: true },
    ...{ archivedDigest: undefined, restores: false },
    jobNode: gatherJobNode(deps, transaction, caller, request.sent.spec),
    quotas: gatherQuotas(deps, caller, slot, identity.bytes),
  })
  if (!judged.ok) return { kind: 'abort', result: judged }
  if (slot.kind === 'full') throw new TypeError('a full quota was not rejected')
  if (!hasForm(transaction)) return { kind: 'abort', result: RAISE_FORM }
  if (!consumeStaged(transaction, workload, secrets, staging.staged))
    return { kind: 'abort', result: { needed: secrets.needed } }
  const job = newJob(deps, { id, spec, slot: slot.slot }, judged.value, secrets)
  stageNew(deps, transaction, caller, job, secrets)
  const { alterations, warnings } = judged.value
  const written: WrittenJob = {
    job: jobView(deps.store, caller.tenant, job),
    alterations: [...alterations],
    warnings: [...warnings],
  }
  return keepOnce(deps.answers, transaction, caller, request.kept, written)
}

/** The job as a workload. A `nodeId` that equals the primary of a volume which the job writes to is left out. */
function followed(
  transaction: Transaction,
  { caller, sent, identity }: CreateRequest,
): { readonly normalised: Normalised; readonly identity: SpecIdentity; readonly spec: JobSpec } {
  const before = { normalised: { ...sent, spec: workloadSpec(sent.spec) }, identity }
  const after = followMounts(transaction, caller.tenant, before, undefined)
  const { nodeId: _node, ...without } = sent.spec
  return { ...after, spec: after.normalised.spec.nodeId === undefined ? without : sent.spec }
}

/** The node that a job names must be the tenant's, and some node of the tenant must have a connected agent. */
function gatherJobNode(
  { store }: Pick<DeploymentDeps, 'store'>,
  transaction: Transaction,
  { tenant }: Caller,
  { nodeId }: JobSpec,
): NodeFact {
  if (!store.list(nodes, tenant).some(({ record }) => record.status === 'ready'))
    return { answer: 'none_connected' }
  const isKnown =
    nodeId === undefined ||
    (isNodeId(nodeId) && transaction.get(inTenant(tenant, nodes, nodeId)) !== undefined)
  return { answer: isKnown ? 'candidate' : 'unknown_to_job' }
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

function newJob(
  { clock }: Pick<DeploymentDeps, 'clock'>,
  identified: Pick<StoredJob, 'id' | 'spec' | 'slot'>,
  { imageDigest }: Pick<JudgedWrite, 'imageDigest'>,
  { pins }: Pick<SecretsOfWrite, 'pins'>,
): StoredJob {
  return {
    v: JOB_FORM,
    ...identified,
    digest: imageDigest,
    ...storedPins(pins),
    ...{ revision: 1, createdAt: timestamp(clock), phase: 'pending', reason: '', unplaced: '' },
    ...{ cancelled: false, attempts: 0, failures: 0, nodeId: null, nodeName: null },
    ...{ startedAt: null, finishedAt: null, exitCode: null },
  }
}

function stageNew(
  { clock }: Pick<DeploymentDeps, 'clock'>,
  transaction: Transaction,
  caller: Caller,
  job: StoredJob,
  { newVersions }: Pick<SecretsOfWrite, 'newVersions'>,
): void {
  const { tenant } = caller
  const { id, spec, slot } = job
  requirePersistable(workloadSpec(spec))
  if (slot !== null) claimSlot(transaction, tenant, KIND, slot, id)
  claimForJob(transaction, tenant, job)
  claimNetworks(transaction, tenant, undefined, spec)
  claimCredentials(transaction, tenant, undefined, spec, newVersions, consumerOf('job', id))
  transaction.put(inTenant(tenant, jobs, id), job)
  recordEvent(transaction, clock, tenant, jobCreatedEvent(job))
  for (const [label, namespace] of labelsOf(spec))
    for (const { version } of newVersions.filter((one) => one.label === label))
      emitSecretWritten(transaction, clock, tenant, { namespace, label }, version)
  const subject = { kind: 'Job', name: spec.name }
  recordAudit(transaction, clock, caller, { action: 'jobs:create', subject, revision: 1 })
}
