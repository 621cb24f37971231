// DELETE /deployments/{name}/scaling: removes the scaling policy. The number of replicas in the spec is used again.

import type { Scaling } from '@holdfast/contract'
import { timestamp } from '../../ports/clock.ts'
import { deployments, type StoredDeployment, type StoredScaling } from '../../store/records.ts'
import { inTenant, type Transaction } from '../../store/transaction.ts'
import { type Caller, done, type Outcome, refused } from '../caller.ts'
import { findToChange } from '../deployments/read/find-deployment.ts'
import { checkIfMatch } from '../preconditions.ts'
import { recordAudit, recordEvent } from '../record-write.ts'
import { policyNotFound, scalingView } from './read-scaling.ts'
import { scaledEvent } from './scaled-event.ts'
import type { ScalingDeps } from './set-scaling.ts'

interface RemovedPolicy {
  readonly stored: StoredDeployment
  readonly scaling: StoredScaling
}

export async function deleteScaling(
  deps: ScalingDeps,
  caller: Caller,
  path: string,
  ifMatch: string | undefined,
): Promise<Outcome<Scaling>> {
  const removed = await deps.store.transact<Outcome<RemovedPolicy>>((transaction) => {
    const found = findToChange(deps.store, transaction, caller, path)
    if (!found.ok) return { kind: 'abort', result: found }
    const { scaling, ...rest } = found.value
    if (scaling === undefined) return { kind: 'abort', result: policyNotFound(path) }
    const conflict = checkIfMatch(ifMatch, scaling.revision)
    if (conflict !== undefined) return { kind: 'abort', result: refused(conflict) }
    const stored = { ...rest, tx: transaction.id }
    stage(deps, transaction, caller, found.value, stored)
    return { kind: 'commit', result: done({ stored, scaling }) }
  })
  if (!removed.ok) return removed
  const { stored, scaling } = removed.value
  return done(await scalingView(deps, caller.tenant, stored, scaling))
}

function stage(
  { clock }: Pick<ScalingDeps, 'clock'>,
  transaction: Transaction,
  caller: Caller,
  before: StoredDeployment,
  after: StoredDeployment,
): void {
  const { name } = after.spec
  transaction.put(inTenant(caller.tenant, deployments, name), after)
  const why = 'Its scaling policy was deleted, so the number in the spec is used.'
  const event = scaledEvent(before, after, { reason: 'policy_deleted', why }, timestamp(clock))
  if (event !== undefined) recordEvent(transaction, clock, caller.tenant, event)
  recordAudit(transaction, clock, caller, {
    action: 'scaling:delete',
    subject: { kind: 'Deployment', name },
  })
}
