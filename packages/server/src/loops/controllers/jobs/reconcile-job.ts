// Reconciles one job: decides from the cache and, if anything changes, writes the decision in one fenced transaction that
// compares every record that the decision relies on. See docs/design/jobs.md#attempts

import { consumerOf, isFinalPhase, type JobId, type Owner, ownerOf, type TenantId } from '@holdfast/contract'
import { claimChanges } from '@holdfast/core/placement'
import { claimsOf, startJobReleases } from '../../../operations/deployments/write/claim-volumes.ts'
import { jobEndedEvent, jobStartedEvent } from '../../../operations/jobs/job-events.ts'
import { recordEvent } from '../../../operations/record-write.ts'
import { labelsOf, releaseCredentials } from '../../../operations/secrets/versions/claim-credentials.ts'
import { freeSlot } from '../../../quotas/hold-slot.ts'
import { credentials, jobs, nodes, observations } from '../../../store/records.ts'
import { getOr, inTenant, placementAt, type Transaction } from '../../../store/transaction.ts'
import { LostLeadershipError } from '../../leadership/fence.ts'
import { type Controller, tenantOf } from '../controller.ts'
import { changeClaims } from '../placement/change-claims.ts'
import { volumeAt } from '../placement/placement-snapshot.ts'
import { type Work, workKey } from '../queue/work-key.ts'
import { type DecidedJob, decideJob, nodesToCompare } from './decide-job.ts'

type JobWork = Extract<Work, { kind: 'job' }>

export async function reconcileJob(controller: Controller, { tenant, id }: JobWork): Promise<void> {
  const { leadership } = controller.deps
  if (!leadership.owns(tenant) || decideNow(controller, tenant, id) === undefined) return
  const owner = ownerOf('job', id)
  try {
    await leadership.fenced<void>(tenant, (transaction) => {
      const decided = decideNow(controller, tenant, id)
      if (decided === undefined) return { kind: 'abort', result: undefined }
      reserve(controller, tenant, owner, decided)
      stage(controller, transaction, tenant, id, decided)
      return { kind: 'commit', result: undefined }
    })
  } catch (error) {
    controller.tenants.get(tenant)?.view.release(owner)
    // The process that owns the shard now reconciles the job.
    if (!(error instanceof LostLeadershipError)) throw error
  }
}

/**
 * Decides the job from the cache and notes when it must be decided again, or which change may help it; undefined if
 * nothing changes.
 */
export function decideNow(controller: Controller, tenant: TenantId, id: JobId): DecidedJob | undefined {
  const known = tenantOf(controller, tenant)
  const key = workKey({ kind: 'job', tenant, id })
  // A reservation of an earlier decision must not count against this one.
  known.view.release(ownerOf('job', id))
  const decided = decideJob(controller, known, tenant, id)
  controller.due.note(key, decided?.wakeAt)
  const { refused, before } = decided ?? {}
  if (refused === undefined) known.waiting.forget(key)
  else known.waiting.wait(key, refused.cures, before?.spec.placement?.affinity !== undefined)
  if (decided === undefined) return undefined
  return decided.after === decided.before &&
    decided.next === decided.placement &&
    !dropsClaims(controller, tenant, id, decided)
    ? undefined
    : decided
}

/** Whether claims on volumes wait only for this decision: no container that writes is left. */
const dropsClaims = (
  { deps: { store } }: Controller,
  tenant: TenantId,
  id: JobId,
  { next }: DecidedJob,
): boolean =>
  next === undefined && claimsOf(store, tenant, ownerOf('job', id)).some(({ state }) => state === 'releasing')

/** Enters the decision into the view before it is stored, so that no other decision uses the same capacity. */
function reserve(
  { tenants }: Controller,
  tenant: TenantId,
  owner: Owner,
  { before, placement, next, placementRevision }: DecidedJob,
): void {
  const resources = next?.resources ?? before?.spec.resources ?? placement?.resources
  if (resources === undefined) return
  // An assignment that leaves the record keeps its capacity until the record is stored.
  const kept = new Map(
    [...(placement?.assignments ?? []), ...(next?.assignments ?? [])].map((each) => [each.id, each]),
  )
  tenants
    .get(tenant)
    ?.view.reserve(owner, { name: owner, resources, assignments: [...kept.values()] }, placementRevision)
}

function stage(
  controller: Controller,
  transaction: Transaction,
  tenant: TenantId,
  id: JobId,
  decided: DecidedJob,
): void {
  const { before, after, placement, next } = decided
  const owner = ownerOf('job', id)
  compare(transaction, tenant, id, decided)
  if (after !== undefined && after !== before) transaction.put(inTenant(tenant, jobs, id), after)
  if (next === undefined) transaction.delete(placementAt(tenant, owner))
  else if (next !== placement) transaction.put(placementAt(tenant, owner), next)
  const kept = new Set(next?.assignments.map((each) => each.id))
  for (const each of placement?.assignments ?? [])
    if (!kept.has(each.id)) transaction.delete(inTenant(tenant, observations, each.id))
  stageEnd(transaction, tenant, decided)
  stageClaims(controller, transaction, tenant, owner, decided)
  const { clock } = controller.deps
  if (after !== undefined && decided.started !== undefined)
    recordEvent(transaction, clock, tenant, jobStartedEvent(after, decided.isLost))
  if (after !== undefined && isEnding(decided)) recordEvent(transaction, clock, tenant, jobEndedEvent(after))
}

/** Makes the transaction compare the records that the decision relies on. */
function compare(transaction: Transaction, tenant: TenantId, id: JobId, decided: DecidedJob): void {
  transaction.get(inTenant(tenant, jobs, id))
  transaction.get(placementAt(tenant, ownerOf('job', id)))
  for (const nodeId of nodesToCompare(decided)) transaction.get(inTenant(tenant, nodes, nodeId))
  // An unreadable observation counts as absent and must not block the write.
  for (const each of decided.placement?.assignments ?? [])
    getOr(transaction, inTenant(tenant, observations, each.id), undefined)
  if (decided.started === undefined || decided.before === undefined) return
  for (const label of labelsOf(decided.before.spec).keys())
    transaction.get(inTenant(tenant, credentials, label))
}

const isEnding = ({ before, after }: DecidedJob): boolean =>
  before !== undefined && after !== undefined && !isFinalPhase(before.phase) && isFinalPhase(after.phase)

/** A job that ends frees its slot and its secrets, and starts to release its volumes. */
function stageEnd(transaction: Transaction, tenant: TenantId, decided: DecidedJob): void {
  const { before } = decided
  if (before === undefined || !isEnding(decided)) return
  if (before.slot !== null) freeSlot(transaction, tenant, 'jobs_running', before.slot)
  releaseCredentials(transaction, tenant, before.spec, consumerOf('job', before.id))
  startJobReleases(transaction, tenant, before)
}

function stageClaims(
  { deps: { store } }: Controller,
  transaction: Transaction,
  tenant: TenantId,
  owner: Owner,
  decided: DecidedJob,
): void {
  const { started, next } = decided
  const own = claimsOf(store, tenant, owner)
  // The release that this transaction starts may end in it, if no container is left.
  const claims = own.map((claim) => (isEnding(decided) ? { ...claim, state: 'releasing' as const } : claim))
  const volumeOf = (volume: string) => volumeAt(store, tenant, volume)
  const changes = claimChanges({ claims, volumeOf }, started === undefined ? [] : [started], next)
  changeClaims(transaction, tenant, owner, changes)
}
