// DELETE /api/v1/deployments/{name}: marks the record as deleting and emits an event. The loop in
// loops/finish-removals.ts then stops the replicas, deletes the record and reports the end of the deletion.

import type { DeletedDeployment, DeploymentRecord, TenantId } from '@holdfast/contract'
import { warnOfDependents } from '@holdfast/core'
import { timestamp } from '../../../ports/clock.ts'
import { deployments, removals } from '../../../store/records.ts'
import { globally, inTenant } from '../../../store/transaction.ts'
import { type Caller, done, type Outcome, refused } from '../../caller.ts'
import { checkIfMatch } from '../../preconditions.ts'
import { type NewEvent, recordAudit, recordEvent } from '../../record-write.ts'
import type { DeploymentDeps } from '../deps.ts'
import { deploymentView } from '../read/deployment-view.ts'
import { findToChange } from '../read/find-deployment.ts'
import { startReleases } from './claim-volumes.ts'

export async function removeDeployment(
  { store, clock }: Pick<DeploymentDeps, 'store' | 'clock'>,
  caller: Caller,
  pathName: string,
  ifMatch: string | undefined,
): Promise<Outcome<DeletedDeployment>> {
  return store.transact((transaction) => {
    const found = findToChange(store, transaction, caller, pathName)
    if (!found.ok) return { kind: 'abort', result: found }
    const stored = found.value
    const conflict = checkIfMatch(ifMatch, stored.revision)
    if (conflict !== undefined) return { kind: 'abort', result: refused(conflict) }
    const marked = { ...stored, deleting: true, updatedAt: timestamp(clock), tx: transaction.id }
    transaction.put(inTenant(caller.tenant, deployments, stored.spec.name), marked)
    startReleases(transaction, caller.tenant, stored)
    transaction.put(globally(removals, stored.uid), { v: 1, tenant: caller.tenant, name: stored.spec.name })
    recordAudit(transaction, clock, caller, {
      action: 'deployments:removed',
      subject: { kind: 'Deployment', name: stored.spec.name },
    })
    const deleting = deploymentView(store, caller.tenant, marked)
    recordEvent(transaction, clock, caller.tenant, deletingEvent(deleting))
    const warnings = warnOfDependents(stored.spec.name, dependentsOn(store, caller.tenant, stored.spec.name))
    return { kind: 'commit', result: done({ ...deleting, warnings }) }
  })
}

/**
 * The deployments that depend on a name, sorted, from the cache: the deletion is accepted anyway, so a dependency that is
 * added at the same moment may be missed.
 */
function dependentsOn(
  store: Pick<DeploymentDeps['store'], 'list'>,
  tenant: TenantId,
  name: string,
): string[] {
  return store
    .list(deployments, tenant)
    .filter(({ record }) => !record.deleting && Object.hasOwn(record.spec.dependsOn ?? {}, name))
    .map(({ record }) => record.spec.name)
    .sort()
}

/** The event of a deletion. It is emitted once: a second DELETE does not find a deployment that is being deleted. */
function deletingEvent({ name, uid, revision, status: { replicas } }: DeploymentRecord): NewEvent {
  const stopping = replicas.placed === 1 ? '1 replica stops' : `${replicas.placed} replicas stop`
  return {
    type: 'deployment.progressing',
    severity: 'info',
    reason: 'deleting',
    cause: 'deleting',
    subject: { kind: 'Deployment', name, uid },
    message: `Deployment ${name} is being deleted${replicas.placed === 0 ? '' : `: ${stopping} first`}.`,
    data: { revision, replicas: { ...replicas } },
  }
}
