// GET /deployments/{name}/why: explains why containers fail and why replicas have no node
// (docs/design/placement.md#explanations). Without a time, the placement filters are applied to the current facts; for an
// earlier time, the decision recorded at that time is returned.

import { defined, type FailingContainer, ownerOf, type TenantId, type Why } from '@holdfast/contract'
import { DEPENDENCY_UNHEALTHY, failingContainers } from '@holdfast/core'
import { isLost } from '../../../liveness/node-status.ts'
import { timestamp } from '../../../ports/clock.ts'
import { nodes, observations, type StoredDeployment, type StoredPlacement } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { inTenant, placementAt } from '../../../store/transaction.ts'
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
  // A replica that should move but fits no other node still has its old node, so it is added to the replicas to place.
  const placement = store.get(placementAt(tenant, ownerOf('deployment', stored.uid)))?.record
  const { shortfall } = placement ?? {}
  const needed = desired === 0 || shortfall === undefined || shortfall.reason === DEPENDENCY_UNHEALTHY ? 0 : 1
  const plan = explainTenantPlacement(deps, tenant, stored.spec, Math.max(needed, desired - placed))
  // If every replica has a node, the summary is the message of the deployment's status: why a replica is not ready.
  const settled = plan.unplaced === 0
  return {
    decidedAt: timestamp(clock),
    phase: status.phase,
    summary: settled ? status.message : plan.summary,
    ...listed(failingNow(store, tenant, placement)),
    candidates: [...plan.candidates],
    cure: [...plan.cure],
  }
}

/** The containers that fail now. Reports of a lost node are no longer valid. */
function failingNow(
  store: Pick<Store, 'get'>,
  tenant: TenantId,
  placement: StoredPlacement | undefined,
): FailingContainer[] {
  const { assignments = [] } = placement ?? {}
  const running = assignments.filter(
    ({ desired, nodeId }) => desired === 'running' && !isLost(store, tenant, nodeId),
  )
  return failingContainers(
    running,
    (id) => store.get(inTenant(tenant, observations, id))?.record,
    (id) => store.get(inTenant(tenant, nodes, id))?.record.name ?? id,
  )
}

const listed = (containers: FailingContainer[]): Pick<Why, 'containers'> =>
  containers.length === 0 ? {} : { containers }

/** The placement decision in force at the requested time (docs/design/placement.md#decision-records). */
async function whyThen(
  store: Store,
  tenant: TenantId,
  { uid, createdAt }: StoredDeployment,
  at: number,
): Promise<Why> {
  const owner = ownerOf('deployment', uid)
  const kept = keptDecisions(store, tenant, owner)
  const inForce = kept.findLast((each) => each.at <= at)
  const found = inForce && (await readDecision(store, tenant, inForce))
  if (found !== undefined) {
    const { decidedAt, phase, summary, containers, cure } = found.record
    return {
      decidedAt,
      phase,
      summary,
      ...defined({ containers }),
      candidates: [...found.candidates],
      cure,
    }
  }
  const last = store.get(placementAt(tenant, owner))?.record.decided
  const [oldest] = inForce === undefined ? kept : kept.filter(({ number }) => number > inForce.number)
  // Decisions are numbered from 1: if the oldest kept decision has another number, retention dropped earlier ones.
  const isDropped = last !== undefined && oldest?.number !== 1
  return isDropped && at >= Date.parse(createdAt) ? notKept(oldest) : UNDECIDED
}

const UNDECIDED: Why = {
  decidedAt: null,
  phase: 'Pending',
  summary: 'No decision about this deployment is known for that time.',
  candidates: [],
  cure: [],
}

function notKept(oldest: KeptDecision | undefined): Why {
  const kept =
    oldest === undefined
      ? 'no decision is kept'
      : `the oldest kept decision is of ${new Date(oldest.at).toISOString()}`
  return {
    ...UNDECIDED,
    phase: 'Unknown',
    summary: `The decision about this deployment at that time is no longer kept; ${kept}.`,
  }
}
