// GET /deployments/{name}/why: explains why containers fail and why replicas have no node
// (docs/design/placement.md#explanations). Without a time, the placement filters are applied to the current facts; for an
// earlier time, the decision recorded at that time is returned.

import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  defined,
  type FailingContainer,
  type NodeGroup,
  ownerOf,
  type TenantId,
  type Why,
} from '@holdfast/contract'
import { avoiding, DEPENDENCY_UNHEALTHY, failingContainers } from '@holdfast/core'
import { isLost } from '../../../liveness/node-status.ts'
import { timestamp } from '../../../ports/clock.ts'
import { workloadOf } from '../../../scheduling/scheduling-facts.ts'
import { nodes, observations, type StoredDeployment, type StoredPlacement } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { inTenant, placementAt } from '../../../store/transaction.ts'
import { done, type Outcome } from '../../caller.ts'
import type { PageRequest } from '../../page.ts'
import { scalingStatus } from '../../scaling/read-scaling.ts'
import type { DeploymentDeps } from '../deps.ts'
import { type KeptDecision, keptDecisions, type ReadDecision, readDecision } from './decisions.ts'
import { deploymentView } from './deployment-view.ts'
import { explainCanary } from './explain-canary.ts'
import { explainNow, keyOfAvoided } from './explain-now.ts'
import { findStored } from './find-deployment.ts'
import {
  groupsOfCandidates,
  type ListedNodes,
  nodesOfGroups,
  pageCandidates,
  pageGroups,
} from './why-pages.ts'

export type WhyDeps = Pick<DeploymentDeps, 'store' | 'views' | 'clock' | 'residency' | 'quotas' | 'readUsage'>

export interface WhyQuery extends PageRequest {
  readonly at?: string | undefined
  /** `groups` or `candidates`; absent: the candidates, if a replica has no node. */
  readonly view?: string | undefined
}

/** An explanation before it is divided into pages. */
interface Explained extends ListedNodes {
  readonly why: Omit<Why, 'candidates'>
  groups(): readonly NodeGroup[]
}

export async function readWhy(
  deps: WhyDeps,
  tenant: TenantId,
  path: string,
  query: WhyQuery,
): Promise<Outcome<Why>> {
  await deps.store.fresh()
  const found = findStored(deps.store, tenant, path)
  if (!found.ok) return found
  const explained =
    query.at === undefined
      ? await whyNow(deps, tenant, found.value, query.view !== undefined)
      : await whyThen(deps.store, tenant, found.value, Date.parse(query.at))
  const page =
    query.view === 'groups' ? pageGroups(await grouped(explained), query) : pageCandidates(explained, query)
  return page.ok ? done({ ...explained.why, candidates: [], ...page.value }) : page
}

/** The groups of the nodes. Other work runs before thousands of names are also divided into pages and written. */
async function grouped({ groups }: Explained): Promise<readonly NodeGroup[]> {
  const found = groups()
  await nextTurn()
  return found
}

/** The nodes are explained if a replica has no node, or if the caller asks for them. */
async function whyNow(
  deps: WhyDeps,
  tenant: TenantId,
  stored: StoredDeployment,
  isAsked: boolean,
): Promise<Explained> {
  const { store, clock } = deps
  const { status } = deploymentView(store, tenant, stored)
  const { desired, placed } = status.replicas
  // A replica that should move but fits no other node still has its old node, so it is added to the replicas to place.
  const placement = store.get(placementAt(tenant, ownerOf('deployment', stored.uid)))?.record
  const { shortfall } = placement ?? {}
  const needed = desired === 0 || shortfall === undefined || shortfall.reason === DEPENDENCY_UNHEALTHY ? 0 : 1
  const missing = Math.max(needed, desired - placed)
  const containers = failingNow(store, tenant, placement)
  const canary = await explainCanary(deps, tenant, stored, placement)
  const scaling = stored.scaling && (await scalingStatus(deps, tenant, stored, stored.scaling))
  const answered = {
    decidedAt: timestamp(clock),
    phase: status.phase,
    ...listed(containers),
    ...defined({ scaling, canary: canary?.text }),
  }
  // If only the canary lacks a node, the nodes are explained for its replicas.
  const ofCanary = missing === 0 ? canary?.explanation : undefined
  if (ofCanary !== undefined)
    return { ...ofCanary, why: { ...answered, summary: status.message, cure: [...ofCanary.cure] } }
  if (missing === 0 && !isAsked) return unexplained({ ...answered, summary: status.message, cure: [] })
  const { uid, revision, spec } = stored
  const workload = avoiding(workloadOf(store, tenant, spec, deps.residency), placement?.avoided, clock.now())
  const id = `${uid}/${revision}${keyOfAvoided(workload)}`
  const explanation = await explainNow(deps, tenant, { id, workload }, missing)
  // If every replica has a node, the summary is the message of the deployment's status: why a replica is not ready.
  const summary = explanation.unplaced === 0 ? status.message : explanation.summary
  return { ...explanation, why: { ...answered, summary, cure: [...explanation.cure] } }
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

const unexplained = (why: Explained['why']): Explained => ({
  why,
  names: [],
  candidateAt: () => undefined,
  groups: () => [],
})

/** The placement decision in force at the requested time (docs/design/placement.md#decision-records). */
async function whyThen(
  store: Store,
  tenant: TenantId,
  { uid, createdAt }: StoredDeployment,
  at: number,
): Promise<Explained> {
  const owner = ownerOf('deployment', uid)
  const kept = keptDecisions(store, tenant, owner)
  const inForce = kept.findLast((each) => each.at <= at)
  const found = inForce && (await readDecision(store, tenant, inForce))
  if (found !== undefined) {
    const { decidedAt, phase, summary, containers, cure } = found.record
    const why = { decidedAt, phase, summary, ...defined({ containers }), cure }
    return { why, ...nodesOf(store, tenant, found) }
  }
  const last = store.get(placementAt(tenant, owner))?.record.decided
  const [oldest] = inForce === undefined ? kept : kept.filter(({ number }) => number > inForce.number)
  // Decisions are numbered from 1: if the oldest kept decision has another number, retention dropped earlier ones.
  const isDropped = last !== undefined && oldest?.number !== 1
  return unexplained(isDropped && at >= Date.parse(createdAt) ? notKept(oldest) : UNDECIDED)
}

function nodesOf(
  store: Store,
  tenant: TenantId,
  { record, candidates }: ReadDecision,
): Omit<Explained, 'why'> {
  const { groups } = record
  if (groups === undefined)
    return {
      names: candidates.map(({ nodeName }) => nodeName),
      candidateAt: (position) => candidates[position],
      groups: () => groupsOfCandidates(candidates),
    }
  const ids = new Map(store.list(nodes, tenant).map(({ record: { id, name } }) => [name, id]))
  return { ...nodesOfGroups(groups, (name) => ids.get(name)), groups: () => groups }
}

const UNDECIDED: Explained['why'] = {
  decidedAt: null,
  phase: 'Pending',
  summary: 'No decision about this deployment is known for that time.',
  cure: [],
}

function notKept(oldest: KeptDecision | undefined): Explained['why'] {
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
