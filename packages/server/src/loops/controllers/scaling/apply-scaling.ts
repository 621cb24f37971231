// Writes the number of replicas that a scaling policy decided on, with its event, in one fenced transaction. The
// transaction changes nothing if the deployment, its policy or the number has changed since the decision.

import type { ScalingPolicy, TenantId } from '@holdfast/contract'
import { type ScalingDecision, type ScalingFacts, usageText } from '@holdfast/core'
import { recordEvent } from '../../../operations/record-write.ts'
import { type ScalingCause, scaledEvent } from '../../../operations/scaling/scaled-event.ts'
import { type Clock, timestamp } from '../../../ports/clock.ts'
import { deployments, type StoredDeployment } from '../../../store/records.ts'
import { inTenant } from '../../../store/transaction.ts'
import type { Leadership } from '../../leadership/lead-shards.ts'

export interface ApplyDeps {
  readonly clock: Clock
  readonly leadership: Pick<Leadership, 'owns' | 'fenced'>
}

export interface Decided {
  readonly decision: ScalingDecision
  readonly facts: Pick<ScalingFacts, 'desired' | 'ready'>
}

export async function applyScaling(
  { clock, leadership }: ApplyDeps,
  tenant: TenantId,
  judged: StoredDeployment,
  { decision, facts }: Decided,
): Promise<void> {
  const address = inTenant(tenant, deployments, judged.spec.name)
  await leadership.fenced<void>(tenant, (transaction) => {
    const stored = transaction.get(address)
    if (stored?.scaling === undefined || !isSame(stored, judged)) return { kind: 'abort', result: undefined }
    const now = timestamp(clock)
    const scaling = { ...stored.scaling, desired: decision.desired, scaledAt: now }
    const next = { ...stored, scaling }
    transaction.put(address, next)
    const event = scaledEvent(stored, next, causeOf(stored.scaling.policy, decision, facts), now)
    if (event !== undefined) recordEvent(transaction, clock, tenant, event)
    return { kind: 'commit', result: undefined }
  })
}

const isSame = (stored: StoredDeployment, judged: StoredDeployment): boolean =>
  stored.uid === judged.uid &&
  stored.revision === judged.revision &&
  !stored.deleting &&
  stored.scaling?.revision === judged.scaling?.revision &&
  stored.scaling?.desired === judged.scaling?.desired

function causeOf(
  policy: ScalingPolicy,
  { desired, wanted, measuredPercent }: ScalingDecision,
  { desired: before, ready }: Decided['facts'],
): ScalingCause {
  const { targetPercent } = policy
  return {
    reason: desired > before ? 'scale_up' : 'scale_down',
    why: `${usageText(policy, measuredPercent ?? 0)}.`,
    data: { wanted, measuredPercent, targetPercent, ready },
  }
}
