// PUT /deployments/{name}/scaling: sets or changes the scaling policy of a deployment. The number of replicas is brought
// within its bounds at once; the loop changes it later.

import type { Json, Rejection, WrittenScaling } from '@holdfast/contract'
import {
  type AdmissionContext,
  boundedReplicas,
  checkScaling,
  checkScalingFacts,
  reject,
  type SentScaling,
} from '@holdfast/core'
import { type Clock, timestamp } from '../../ports/clock.ts'
import { demandForm } from '../../store/demand-form.ts'
import { SCALING_FORM } from '../../store/records/collection.ts'
import { deployments, type StoredDeployment, type StoredScaling } from '../../store/records.ts'
import type { Store, TransactionDecision } from '../../store/store.ts'
import { inTenant, type Transaction } from '../../store/transaction.ts'
import { type Caller, done, type Outcome, refused } from '../caller.ts'
import { findStored, findToChange } from '../deployments/read/find-deployment.ts'
import { checkIfMatch } from '../preconditions.ts'
import { recordAudit, recordEvent } from '../record-write.ts'
import { refuseForm } from '../write-in-form.ts'
import { type ReadScalingDeps, scalingView } from './read-scaling.ts'
import { scaledEvent } from './scaled-event.ts'

export interface ScalingDeps extends ReadScalingDeps {
  readonly store: Store
  readonly clock: Clock
  readonly admission: Pick<AdmissionContext, 'limits'>
}

export interface SetRequest {
  readonly path: string
  readonly body: Json
  readonly ifMatch: string | undefined
}

export async function setScaling(
  deps: ScalingDeps,
  caller: Caller,
  request: SetRequest,
): Promise<Outcome<WrittenScaling>> {
  const { store } = deps
  await store.fresh()
  // A rejected policy must not raise the form of the records, so it is judged before and, on fresh records, after it.
  const known = findStored(store, caller.tenant, request.path)
  const judged = known.ok ? judge(deps, known.value, request) : known
  if (!judged.ok) return judged
  const unwritten = refuseForm('scaling policies', await demandForm(store, SCALING_FORM))
  if (unwritten !== undefined) return refused(unwritten)
  const written = await store.transact((transaction) => decideSet(deps, transaction, caller, request))
  if (!written.ok) return written
  const { stored, scaling, alterations } = written.value
  const view = await scalingView(deps, caller.tenant, stored, scaling)
  return done({ scaling: view, alterations: [...alterations], warnings: [] })
}

interface WrittenPolicy extends Pick<SentScaling, 'alterations'> {
  readonly stored: StoredDeployment
  readonly scaling: StoredScaling
}

function decideSet(
  deps: ScalingDeps,
  transaction: Transaction,
  caller: Caller,
  request: SetRequest,
): TransactionDecision<Outcome<WrittenPolicy>> {
  const found = findToChange(deps.store, transaction, caller, request.path)
  if (!found.ok) return { kind: 'abort', result: found }
  const judged = judge(deps, found.value, request)
  if (!judged.ok) return { kind: 'abort', result: judged }
  const { policy, alterations } = judged.value
  const before = found.value
  const current = before.scaling
  // A PUT that changes nothing succeeds without a new revision.
  if (current !== undefined && isSamePolicy(current.policy, policy))
    return { kind: 'abort', result: done({ stored: before, scaling: current, alterations }) }
  const scaling = nextScaling(before, policy, timestamp(deps.clock))
  const stored = { ...before, v: SCALING_FORM, scaling, tx: transaction.id }
  stage(deps, transaction, caller, before, stored)
  return { kind: 'commit', result: done({ stored, scaling, alterations }) }
}

const isSamePolicy = (left: StoredScaling['policy'], right: StoredScaling['policy']): boolean =>
  left.min === right.min &&
  left.max === right.max &&
  left.metric === right.metric &&
  left.targetPercent === right.targetPercent &&
  left.scaleDownDelay === right.scaleDownDelay

function judge(
  { admission }: Pick<ScalingDeps, 'admission'>,
  { spec, scaling }: StoredDeployment,
  { path, body, ifMatch }: SetRequest,
): Outcome<SentScaling> {
  const checked = checkScaling(body, scaling?.policy, admission)
  if (!checked.ok) return refused(...checked.rejections)
  const conflict = conflictOf(ifMatch, path, scaling)
  if (conflict !== undefined) return refused(conflict)
  const faults = checkScalingFacts(checked.value.policy, spec)
  return faults.length > 0 ? refused(...faults) : done(checked.value)
}

/** `If-Match` names a revision of the policy, so it fails if there is none. */
function conflictOf(
  ifMatch: string | undefined,
  path: string,
  scaling: StoredScaling | undefined,
): Rejection | undefined {
  if (ifMatch === undefined || scaling !== undefined) return checkIfMatch(ifMatch, scaling?.revision ?? 0)
  const etag = `none, because ${path} has no scaling policy`
  return reject('revision_conflict', 'If-Match', ifMatch, { etag })
}

/** The policy's part of the record: the number starts with that of the spec, and stays where a policy is changed. */
export function nextScaling(
  { spec, scaling }: Pick<StoredDeployment, 'spec' | 'scaling'>,
  policy: StoredScaling['policy'],
  now: string,
): StoredScaling {
  return {
    ...scaling,
    policy,
    revision: (scaling?.revision ?? 0) + 1,
    createdAt: scaling?.createdAt ?? now,
    updatedAt: now,
    desired: boundedReplicas(scaling?.desired ?? spec.replicas, policy),
  }
}

function stage(
  { clock }: Pick<ScalingDeps, 'clock'>,
  transaction: Transaction,
  caller: Caller,
  before: StoredDeployment,
  after: StoredDeployment & { readonly scaling: StoredScaling },
): void {
  const { name } = after.spec
  const { policy, revision } = after.scaling
  transaction.put(inTenant(caller.tenant, deployments, name), after)
  const why = `Its scaling policy allows ${policy.min} to ${policy.max} replicas.`
  const event = scaledEvent(before, after, { reason: 'policy_set', why }, timestamp(clock))
  if (event !== undefined) recordEvent(transaction, clock, caller.tenant, event)
  const { min, max, metric, targetPercent, scaleDownDelay } = policy
  recordAudit(transaction, clock, caller, {
    action: 'scaling:set',
    subject: { kind: 'Deployment', name },
    revision,
    detail: { policy: `${metric} ${targetPercent} %, ${min} to ${max} replicas, delay ${scaleDownDelay}` },
  })
}
