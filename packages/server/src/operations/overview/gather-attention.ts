// Gathers from the cache which records of a tenant exist in which phase, and which of them need a person.

import {
  consumerName,
  type Node,
  type NodeId,
  type Overview,
  ownerOf,
  type QuotaList,
  type Recommendation,
  type TenantId,
} from '@holdfast/contract'
import { nodeSince } from '@holdfast/core'
import {
  deploymentAttention,
  jobAttention,
  type Needed,
  networkAttention,
  nodeAttention,
  quotaAttention,
  recommendationAttention,
  rotationAttention,
  volumeAttention,
} from '@holdfast/core/attention/attention'
import type { Clock } from '../../ports/clock.ts'
import type { Quotas } from '../../quotas/quotas.ts'
import { credentials, deployments, jobs, networks, nodes, placements, volumes } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { placementAt } from '../../store/transaction.ts'
import { deploymentStatus } from '../deployments/read/deployment-view.ts'
import { jobView } from '../jobs/job-view.ts'
import { nodeView } from '../nodes/node-view.ts'
import { pathOf } from '../secrets/versions/version-uses.ts'

export interface AttentionDeps {
  readonly store: Pick<Store, 'get' | 'list'>
  readonly clock: Clock
  readonly quotas: Pick<Quotas, 'list'>
  /** How long after `unreachable` a silent node is declared failed. */
  readonly failsAfterMs: number
  /** The recommendations from what is known now; none if volumes are switched off. */
  advise(tenant: TenantId): readonly Recommendation[]
}

export interface Gathered {
  readonly counts: Pick<Overview, 'deployments' | 'nodes' | 'volumes' | 'jobs' | 'networks'>
  readonly quotas: QuotaList
  readonly rotations: Overview['rotations']
  readonly recommendations: readonly Recommendation[]
  readonly needed: readonly Needed[]
}

export function gatherAttention(deps: AttentionDeps, tenant: TenantId): Gathered {
  const { store, clock, quotas } = deps
  const parts = [
    gatherDeployments(deps, tenant),
    gatherNodes(deps, tenant),
    gatherVolumes(deps, tenant),
    gatherJobs(deps, tenant),
    gatherNetworks(deps, tenant),
  ] as const
  const [ofDeployments, ofNodes, ofVolumes, ofJobs, ofNetworks] = parts
  const listed = quotas.list(tenant)
  const rotations = gatherRotations(store, tenant)
  const recommendations = deps.advise(tenant)
  return {
    counts: {
      deployments: ofDeployments.counted,
      nodes: ofNodes.counted,
      volumes: ofVolumes.counted,
      jobs: ofJobs.counted,
      networks: ofNetworks.counted,
    },
    quotas: listed,
    rotations,
    recommendations,
    needed: [
      ...parts.flatMap(({ needed }) => needed),
      ...quotaAttention(listed),
      ...rotations.map(({ path, phase, since }) =>
        rotationAttention({ path, phase, since: since ?? new Date(clock.now()).toISOString() }),
      ),
      ...recommendations.flatMap(recommendationAttention),
    ],
  }
}

function gatherDeployments({ store }: AttentionDeps, tenant: TenantId) {
  const counted = count()
  const needed = store.list(deployments, tenant).flatMap(({ record }) => {
    const { uid, updatedAt } = record
    const status = deploymentStatus(store, tenant, record)
    counted.add(status.phase)
    const decided = store.get(placementAt(tenant, ownerOf('deployment', uid)))?.record.decided
    return deploymentAttention({ name: record.spec.name, uid, status, since: decided?.at ?? updatedAt })
  })
  return { counted: counted.result(), needed }
}

function gatherNodes({ store, failsAfterMs }: AttentionDeps, tenant: TenantId) {
  const counted = count()
  const replicas = new Map<NodeId, number>()
  for (const { record } of store.list(placements, tenant))
    for (const { nodeId } of record.assignments) replicas.set(nodeId, (replicas.get(nodeId) ?? 0) + 1)
  let cordoned = 0
  const needed = store.list(nodes, tenant).flatMap(({ record }) => {
    const node: Node = nodeView(record, tenant, [])
    counted.add(node.status)
    if (!node.schedulable) cordoned += 1
    const since = nodeSince(record)
    const failedAt = new Date(Date.parse(record.statusSince) + failsAfterMs).toISOString()
    return nodeAttention({ node, since, replicas: replicas.get(node.id) ?? 0, failedAt })
  })
  return { counted: { ...counted.result(), cordoned }, needed }
}

function gatherVolumes({ store }: AttentionDeps, tenant: TenantId) {
  const counted = count()
  const needed = store.list(volumes, tenant).flatMap(({ record }) => {
    counted.add(record.phase)
    const { id, spec, phase, reason, primary } = record
    return volumeAttention({ id, name: spec.name, phase, reason, since: primary?.since ?? record.createdAt })
  })
  return { counted: counted.result(), needed }
}

function gatherJobs({ store, clock }: AttentionDeps, tenant: TenantId) {
  const counted = count()
  const needed = store.list(jobs, tenant).flatMap(({ record }) => {
    counted.add(record.phase)
    const { id, spec, createdAt } = record
    const { message } = jobView(store, tenant, record).status
    const reason = record.unplaced === '' ? record.reason : 'unschedulable'
    const { phase, finishedAt } = record
    return jobAttention({ id, name: spec.name, phase, reason, message, finishedAt, createdAt }, clock.now())
  })
  return { counted: counted.result(), needed }
}

function gatherNetworks({ store }: AttentionDeps, tenant: TenantId) {
  const counted = count()
  const needed = store.list(networks, tenant).flatMap(({ record }) => {
    counted.add(record.phase)
    const { id, options, phase, reason } = record
    return networkAttention({ id, name: options.name, phase, reason })
  })
  return { counted: counted.result(), needed }
}

/** The most rotations that an overview lists. */
const MAX_ROTATIONS = 50

function gatherRotations(store: Pick<Store, 'list'>, tenant: TenantId): Overview['rotations'] {
  return store
    .list(credentials, tenant)
    .flatMap(({ record: { namespace, label, rotation, consumers } }) => {
      if (rotation === undefined) return []
      const { phase, since } = rotation
      return [{ path: pathOf({ namespace, label }), phase, since, consumers: consumers.map(consumerName) }]
    })
    .toSorted((left, right) => (left.since < right.since ? -1 : 1))
    .slice(0, MAX_ROTATIONS)
}

function count() {
  const counts: { [word: string]: number } = {}
  let total = 0
  return {
    add(word: string): void {
      counts[word] = (counts[word] ?? 0) + 1
      total += 1
    },
    result: () => ({ total, counts }),
  }
}
