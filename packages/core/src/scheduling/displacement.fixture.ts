// For tests only: a cluster in which the rollout planner and the scheduler make decisions, and agents carry out the
// decisions on every reachable node.

import type { Assignment, AssignmentId, NodeId, Observation } from '@holdfast/contract'
import type { NodeDisposition, ReplicaFacts } from '../rollout/desired-replicas.ts'
import type { DesiredDeployment, PlacedDeployment } from '../rollout/desired-rollout.ts'
import { displacedDisposition } from '../rollout/displaced-disposition.ts'
import { removeReplacedLost } from '../rollout/plan-replicas.ts'
import { planRollout } from '../rollout/plan-rollout.ts'
import type { NodeFacts, TenantFacts, Workload } from './facts.ts'
import { leaveForbidden, type Whereabouts } from './leave-forbidden.ts'
import { naivePick } from './scheduling.fixture.ts'
import { placeReplicas } from './scheduling-view.ts'
import { stillQualifies } from './still-qualifies.ts'

type Seen = Pick<Observation, 'state' | 'reason' | 'restarts' | 'gone'>

export interface Deployed {
  workload: Workload
  readonly desired: DesiredDeployment
  placed: PlacedDeployment
  /** True if containers of the deployment that are created from now on never become ready. */
  ill: boolean
}

export interface Cluster {
  readonly deployments: readonly Deployed[]
  /** The nodes of the cluster. Their facts do not include the replicas and requests of the cluster's deployments. */
  readonly nodes: Map<NodeId, NodeFacts>
  readonly containers: TenantFacts['containers']
  readonly observed: Map<AssignmentId, Seen>
  now: number
  made: number
}

export interface Wanted {
  readonly workload: Workload
  readonly replicas: number
  readonly order: 'start-first' | 'stop-first'
}

export function aCluster({ nodes, containers }: TenantFacts, wanted: readonly Wanted[]): Cluster {
  return {
    containers,
    observed: new Map(),
    now: Date.parse('2026-01-01T00:00:00.000Z'),
    made: 0,
    nodes: new Map(nodes.map((node) => [node.id, node])),
    deployments: wanted.map(({ workload, replicas, order }) => ({
      workload,
      desired: {
        replicas,
        deleting: false,
        gated: false,
        stateful: false,
        target: { revision: 1, templateHash: 'one' },
        update: {
          order,
          parallelism: 1,
          failureAction: 'rollback',
          progressDeadlineMs: 60_000,
          watchMs: 15_000,
        },
      },
      placed: { assignments: [] },
      ill: false,
    })),
  }
}

/** The facts for the scheduler. Every assignment whose container is not gone occupies capacity. */
export function tenantFacts(
  { nodes, deployments, containers }: Cluster,
  supposed: ReadonlyMap<Deployed, PlacedDeployment> = new Map(),
): TenantFacts {
  const known = new Map([...nodes].map(([id, node]) => [id, { ...node, replicas: new Map(node.replicas) }]))
  let used = containers.used
  for (const deployed of deployments)
    for (const { nodeId } of (supposed.get(deployed) ?? deployed.placed).assignments) {
      const { workload } = deployed
      used += 1
      const node = known.get(nodeId)
      if (node === undefined) continue
      node.replicas.set(workload.name, (node.replicas.get(workload.name) ?? 0) + 1)
      const { cpuMillis, memoryBytes } = node.requested
      node.requested = {
        cpuMillis: cpuMillis + workload.resources.cpuMillis,
        memoryBytes: memoryBytes + workload.resources.memoryBytes,
      }
    }
  return { nodes: [...known.values()], containers: { used, limit: containers.limit } }
}

/**
 * Decides what happens to the replicas on a node that no longer qualifies. This depends on whether another node would
 * accept one of the replicas if that replica were gone.
 */
function dispositionOf(cluster: Cluster, deployed: Deployed, id: NodeId): NodeDisposition {
  const { workload, desired, placed } = deployed
  const node = cluster.nodes.get(id)
  if (node === undefined) return 'absent'
  const refusal = stillQualifies(workload, node)
  if (refusal === undefined) return 'staying'
  const index = placed.assignments.findIndex(({ nodeId }) => nodeId === id)
  const others = { ...placed, assignments: placed.assignments.toSpliced(index, 1) }
  const facts = tenantFacts(cluster, new Map([[deployed, others]]))
  const { gated, stateful } = desired
  return displacedDisposition(refusal, { open: naivePick(workload, facts) !== undefined, gated, stateful })
}

/** Makes one decision and applies it at once. Returns the new assignments. */
function decide(cluster: Cluster, deployed: Deployed): Assignment[] {
  const { desired, placed } = deployed
  const facts = replicaFacts(cluster, deployed)
  const { kept, missing, rollout, lastGood } = planRollout(desired, placed, facts, cluster.now)
  const added: Assignment[] = []
  deployed.placed = { assignments: kept, rollout, lastGood }
  for (const replica of missing) {
    const nodeId = nodeFor(cluster, deployed)
    if (nodeId === undefined) break
    cluster.made += 1
    const id = `rep_${cluster.made}` as AssignmentId
    added.push({
      ...replica,
      id,
      nodeId,
      desired: 'running',
      assignedAt: new Date(cluster.now).toISOString(),
    })
    deployed.placed = { assignments: [...kept, ...added], rollout, lastGood }
  }
  const left = leaveForbidden(removeReplacedLost(kept, added, facts), added, whereabouts(cluster, deployed))
  deployed.placed = { assignments: [...left, ...added], rollout, lastGood }
  return added
}

function whereabouts({ nodes, observed }: Cluster, { workload }: Deployed): Whereabouts {
  return {
    mayBeOn(nodeId) {
      const node = nodes.get(nodeId)
      const refusal = node && stillQualifies(workload, node)
      return refusal === undefined || refusal.filter === 'label_constraint'
    },
    answers: (nodeId) => nodes.get(nodeId)?.status === 'ready',
    seen: (id) => observed.get(id),
    isOverdue: () => false,
    most: Number.POSITIVE_INFINITY,
  }
}

/** Finds a node for a replica without building an explanation, because this fixture reads none. */
function nodeFor(cluster: Cluster, { workload }: Deployed): NodeId | undefined {
  const facts = tenantFacts(cluster)
  if (naivePick(workload, facts) === undefined) return undefined
  return placeReplicas(workload, 1, facts).placed[0]
}

/** The facts for one plan. Each node is checked once, before any replica moves. */
function replicaFacts(cluster: Cluster, deployed: Deployed): ReplicaFacts {
  const ids = new Set(deployed.placed.assignments.map(({ nodeId }) => nodeId))
  const dispositions = new Map([...ids].map((id) => [id, dispositionOf(cluster, deployed, id)]))
  const others = cluster.deployments.filter((each) => each !== deployed)
  const taken = others.reduce((sum, { placed }) => sum + placed.assignments.length, cluster.containers.used)
  return {
    dispositionOf: (id) => dispositions.get(id) ?? 'staying',
    seen: (id) => cluster.observed.get(id),
    room: cluster.containers.limit - taken,
  }
}

/** Applies the next report of a reachable node's agent; false if the agent has nothing to report. */
function obey({ nodes, observed }: Cluster, { ill }: Deployed, { id, nodeId, desired }: Assignment): boolean {
  const report = observed.get(id)
  if (nodes.get(nodeId)?.status !== 'ready' || report?.gone === true) return false
  const gone = desired === 'removed'
  if (report !== undefined && !gone) return false
  const running = ill
    ? ({ state: 'running', reason: 'unhealthy' } as const)
    : ({ state: 'ready', reason: '' } as const)
  observed.set(
    id,
    gone ? { state: 'stopped', reason: '', restarts: 0, gone } : { ...running, restarts: 0, gone },
  )
  return true
}

const MAX_TURNS = 200

/** Repeats decisions and agent reports, and advances the clock, until nothing changes. */
export function settle(cluster: Cluster, judge: (deployed: Deployed, added: Assignment[]) => void): void {
  for (let turn = 0; turn < MAX_TURNS; turn += 1) {
    const before = cluster.deployments.map(({ placed }) => JSON.stringify(placed))
    for (const deployed of cluster.deployments) judge(deployed, decide(cluster, deployed))
    const report = cluster.deployments.flatMap((deployed) =>
      deployed.placed.assignments.filter((each) => obey(cluster, deployed, each)),
    )
    const moved = cluster.deployments.some(({ placed }, index) => JSON.stringify(placed) !== before[index])
    if (report.length > 0 || moved) continue
    const ends = cluster.deployments.flatMap((each) => {
      const { desired, placed } = each
      return planRollout(desired, placed, replicaFacts(cluster, each), cluster.now).replanAt ?? []
    })
    if (ends.length === 0) return
    cluster.now = Math.max(cluster.now, Math.min(...ends))
  }
  throw new Error('it never settles')
}
