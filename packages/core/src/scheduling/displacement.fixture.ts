// For tests only: a cluster whose deployments are decided for as the controllers do it, from plan to scheduler, with agents
// that obey wherever they can be heard.

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
  readonly wished: DesiredDeployment
  placed: PlacedDeployment
  /** What is made from now on never becomes ready. */
  ill: boolean
}

export interface Cluster {
  readonly deployments: readonly Deployed[]
  /** Less what the deployments of this cluster have on them. */
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
    ...{ containers, observed: new Map(), now: Date.parse('2026-01-01T00:00:00.000Z'), made: 0 },
    nodes: new Map(nodes.map((node) => [node.id, node])),
    deployments: wanted.map(({ workload, replicas, order }) => ({
      workload,
      wished: {
        ...{ replicas, deleting: false, gated: false, stateful: false },
        target: { revision: 1, templateHash: 'one' },
        update: {
          ...{ order, parallelism: 1, failureAction: 'rollback' },
          ...{ progressDeadlineMs: 60_000, watchMs: 15_000 },
        },
      },
      placed: { assignments: [] },
      ill: false,
    })),
  }
}

/** What the scheduler is told: everything that is assigned and not gone takes room. */
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

/** Whether another node takes one that is there is asked as if that one were gone. */
function dispositionOf(cluster: Cluster, deployed: Deployed, id: NodeId): NodeDisposition {
  const { workload, wished, placed } = deployed
  const node = cluster.nodes.get(id)
  if (node === undefined) return 'absent'
  const refusal = stillQualifies(workload, node)
  if (refusal === undefined) return 'staying'
  const index = placed.assignments.findIndex(({ nodeId }) => nodeId === id)
  const others = { ...placed, assignments: placed.assignments.toSpliced(index, 1) }
  const facts = tenantFacts(cluster, new Map([[deployed, others]]))
  const { gated, stateful } = wished
  return displacedDisposition(refusal, { open: naivePick(workload, facts) !== undefined, gated, stateful })
}

/** One decision, entered at once; answers what was newly assigned. */
function decide(cluster: Cluster, deployed: Deployed): Assignment[] {
  const { wished, placed } = deployed
  const facts = replicaFacts(cluster, deployed)
  const { kept, missing, rollout, lastGood } = planRollout(wished, placed, facts, cluster.now)
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

/** The scheduler is asked only where it has an answer: here nobody reads why it has none. */
function nodeFor(cluster: Cluster, { workload }: Deployed): NodeId | undefined {
  const facts = tenantFacts(cluster)
  if (naivePick(workload, facts) === undefined) return undefined
  return placeReplicas(workload, 1, facts).placed[0]
}

/** How the nodes stand is settled before anything moves. */
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

/** What the agent of a node that can be heard says next; false when it has no more to say. */
function obey({ nodes, observed }: Cluster, { ill }: Deployed, { id, nodeId, desired }: Assignment): boolean {
  const said = observed.get(id)
  if (nodes.get(nodeId)?.status !== 'ready' || said?.gone === true) return false
  const gone = desired === 'removed'
  if (said !== undefined && !gone) return false
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

/** Decisions, agents and time, until nothing changes any more. */
export function settle(cluster: Cluster, judge: (deployed: Deployed, added: Assignment[]) => void): void {
  for (let turn = 0; turn < MAX_TURNS; turn += 1) {
    const before = cluster.deployments.map(({ placed }) => JSON.stringify(placed))
    for (const deployed of cluster.deployments) judge(deployed, decide(cluster, deployed))
    const said = cluster.deployments.flatMap((deployed) =>
      deployed.placed.assignments.filter((each) => obey(cluster, deployed, each)),
    )
    const moved = cluster.deployments.some(({ placed }, index) => JSON.stringify(placed) !== before[index])
    if (said.length > 0 || moved) continue
    const ends = cluster.deployments.flatMap((each) => {
      const { wished, placed } = each
      return planRollout(wished, placed, replicaFacts(cluster, each), cluster.now).replanAt ?? []
    })
    if (ends.length === 0) return
    cluster.now = Math.max(cluster.now, Math.min(...ends))
  }
  throw new Error('it never settles')
}
