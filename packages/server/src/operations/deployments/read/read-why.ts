// Why is a replica nowhere? Now: the filters on the facts of this moment. At an earlier time: what was decided then.
// DECISIONS 1, 2 and 7.

import type { TenantId, Why } from '@holdfast/contract'
import { DEPENDENCY_UNHEALTHY } from '@holdfast/core'
import { timestamp } from '../../../ports/clock.ts'
import { placements, type StoredDeployment } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { inTenant } from '../../../store/transaction.ts'
import { done, type Outcome } from '../../caller.ts'
import type { DeploymentDeps } from '../deps.ts'
import { explainTenantPlacement } from '../explain-placement.ts'
import { type KeptDecision, keptDecisions, readDecision } from './decisions.ts'
import { deploymentView } from './deployment-view.ts'
import { findStored } from './find-deployment.ts'

export type WhyDeps = Pick<DeploymentDeps, 'store' | 'quotas' | 'clock' | 'residency'>

export async function readWhy(
  deps: WhyDeps,
  tenant: TenantId,
  path: string,
  at: string | undefined,
): Promise<Outcome<Why>> {
  await deps.store.fresh()
  const found = findStored(deps.store, tenant, path)
  if (!found.ok) return found
  return at === undefined
    ? done(whyNow(deps, tenant, found.value))
    : done(await whyThen(deps.store, tenant, found.value, Date.parse(at)))
}

function whyNow(deps: WhyDeps, tenant: TenantId, stored: StoredDeployment): Why {
  const { store, clock } = deps
  const { status } = deploymentView(store, tenant, stored)
  const { desired, placed } = status.replicas
  // One that should move and that no other node takes has a node, and asks for another.
  const { shortfall } = store.get(inTenant(tenant, placements, stored.uid))?.record ?? {}
  const asked = desired === 0 || shortfall === undefined || shortfall.reason === DEPENDENCY_UNHEALTHY ? 0 : 1
  const plan = explainTenantPlacement(deps, tenant, stored.spec, Math.max(asked, desired - placed))
  // What keeps a replica that has a node from being ready is no matter of placement: the status says it.
  const settled = plan.unplaced === 0
  return {
    decidedAt: timestamp(clock),
    phase: status.phase,
    summary: settled ? status.message : plan.summary,
    candidates: [...plan.candidates],
    cure: [...plan.cure],
  }
}

/** The decision that was in force then, as it was recorded with the placement that it led to (ADR 0031). */
async function whyThen(
  store: Store,
  tenant: TenantId,
  { uid, createdAt }: StoredDeployment,
  at: number,
): Promise<Why> {
  const kept = keptDecisions(store, tenant, uid)
  const inForce = kept.findLast((each) => each.at <= at)
  const found = inForce && (await readDecision(store, tenant, inForce))
  if (found !== undefined) {
    const { decidedAt, phase, summary, cure } = found.record
    return { decidedAt, phase, summary, candidates: [...found.candidates], cure }
  }
  const last = store.get(inTenant(tenant, placements, uid))?.record.decided
  const [oldest] = inForce === undefined ? kept : kept.filter(({ number }) => number > inForce.number)
  // They are numbered from 1: where the first one is missing, it was there once.
  const isDropped = last !== undefined && oldest?.number !== 1
  return isDropped && at >= Date.parse(createdAt) ? notKept(oldest) : UNDECIDED
}

const UNDECIDED: Why = {
  decidedAt: null,
  phase: 'Pending',
  summary: 'Nothing is known to have been decided about this deployment by that time.',
  candidates: [],
  cure: [],
}

function notKept(oldest: KeptDecision | undefined): Why {
  const kept =
    oldest === undefined
      ? 'none of its decisions is'
      : `the oldest one that is kept is of ${new Date(oldest.at).toISOString()}`
  return {
    ...UNDECIDED,
    phase: 'Unknown',
    summary: `What was decided about this deployment by that time is no longer kept; ${kept}.`,
  }
}
