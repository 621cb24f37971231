// GET /deployments/{name}/metrics and GET /nodes/{id}/metrics: the usage of the last hour or a part of it.

import {
  type Assignment,
  type DeploymentMetrics,
  defined,
  deploymentUidOf,
  durationMs,
  type NodeId,
  type NodeMetrics,
  type ReplicaMetrics,
  type TenantId,
} from '@holdfast/contract'
import { USAGE_SLOTS, USAGE_STEP_MS } from '@holdfast/core/node'
import type { Clock } from '../../ports/clock.ts'
import type { AssignmentUsage, LastMinute, NodeUsage } from '../../ports/usage.ts'
import { deployments, nodes, placements } from '../../store/records.ts'
import { inTenant } from '../../store/transaction.ts'
import { done, type Outcome } from '../caller.ts'
import { findStored } from '../deployments/read/find-deployment.ts'
import { findNode, nodeNotFound } from '../nodes/find-node.ts'
import { isServing, readDeploymentUsage, type UsageDeps } from './replica-usage.ts'

export interface MetricsDeps extends UsageDeps {
  readonly clock: Clock
}

export async function readDeploymentMetrics(
  deps: MetricsDeps,
  tenant: TenantId,
  path: string,
  since: string | undefined,
): Promise<Outcome<DeploymentMetrics>> {
  const { store, clock } = deps
  await store.fresh()
  const found = findStored(store, tenant, path)
  if (!found.ok) return found
  const { uid, spec } = found.value
  const window = windowSince(since, clock.now())
  const { replicas, mean, unreachable } = await readDeploymentUsage(deps, tenant, uid, window.slots)
  const series = replicas.map(({ assignment, usage }) =>
    replicaMetrics(deps, tenant, { deployment: spec.name, assignment, usage, slots: window.slots }),
  )
  return done({
    step: window.step,
    from: window.from,
    unreachable: unreachable.map((id) => nameOf(deps, tenant, id)),
    lastMinute: { ready: mean.ready, measured: mean.measured, ...orNull(mean) },
    series: series.toSorted((left, right) => left.replica - right.replica),
  })
}

export async function readNodeMetrics(
  deps: MetricsDeps,
  tenant: TenantId,
  id: string,
  since: string | undefined,
): Promise<Outcome<NodeMetrics>> {
  const { store, clock, readUsage } = deps
  await store.fresh()
  const node = findNode(store, tenant, id)?.record
  if (node === undefined) return nodeNotFound(id)
  const { slots, step, from } = windowSince(since, clock.now())
  const { nodes: found, unreachable } = await readUsage(tenant, [{ nodeId: node.id }], slots)
  const usage = found.get(node.id)
  return done({
    step,
    from,
    unreachable: unreachable.length === 0 ? [] : [node.name],
    node: machineMetrics(usage, slots),
    unread: usage?.unread ?? null,
    omitted: usage?.omitted ?? 0,
    series: usage === undefined ? [] : replicasOn(deps, tenant, usage, slots),
  })
}

/** The replicas of deployments on the node, by deployment and number. */
function replicasOn(deps: MetricsDeps, tenant: TenantId, usage: NodeUsage, slots: number): ReplicaMetrics[] {
  const { store } = deps
  const usages = new Map(usage.series.map((one) => [one.id, one]))
  const names = new Map(
    store.list(deployments, tenant).map(({ record: { uid, spec } }) => [String(uid), spec.name]),
  )
  const series = store.list(placements, tenant).flatMap(({ record: { owner, assignments } }) =>
    assignments.flatMap((assignment) => {
      const found = usages.get(assignment.id)
      const deployment = names.get(deploymentUidOf(owner) ?? '')
      if (found === undefined || deployment === undefined) return []
      return [replicaMetrics(deps, tenant, { deployment, assignment, usage: found, slots })]
    }),
  )
  return series.toSorted(
    (left, right) => left.deployment.localeCompare(right.deployment) || left.replica - right.replica,
  )
}

interface ReplicaFacts {
  readonly deployment: string
  readonly assignment: Assignment
  readonly usage: AssignmentUsage | undefined
  readonly slots: number
}

function replicaMetrics(
  deps: MetricsDeps,
  tenant: TenantId,
  { deployment, assignment, usage, slots }: ReplicaFacts,
): ReplicaMetrics {
  const { replica, revision, nodeId, canary } = assignment
  return {
    deployment,
    replica,
    revision,
    node: nameOf(deps, tenant, nodeId),
    nodeId,
    ready: isServing(deps.store, tenant, assignment),
    ...defined({ canary }),
    cpuMillis: usage?.cpuMillis ?? missing(slots),
    memoryBytes: usage?.memoryBytes ?? missing(slots),
    rx: usage?.rx ?? missing(slots),
    tx: usage?.tx ?? missing(slots),
    lastMinute: orNull(usage?.lastMinute),
    throttledPercent: usage?.throttledPercent ?? null,
    pids: usage?.pids ?? null,
  }
}

const machineMetrics = (usage: NodeUsage | undefined, slots: number): NodeMetrics['node'] => ({
  cpuMillis: usage?.cpuMillis ?? missing(slots),
  memoryBytes: usage?.memoryBytes ?? missing(slots),
  loadMillis: usage?.loadMillis ?? missing(slots),
  diskUsedBytes: usage?.diskUsedBytes ?? missing(slots),
  diskBytes: usage?.diskBytes ?? null,
  lastMinute: orNull(usage?.lastMinute),
})

const missing = (slots: number): null[] => Array.from({ length: slots }, () => null)

const orNull = ({ cpuMillis, memoryBytes }: LastMinute = {}) => ({
  cpuMillis: cpuMillis ?? null,
  memoryBytes: memoryBytes ?? null,
})

const nameOf = ({ store }: MetricsDeps, tenant: TenantId, nodeId: NodeId): string =>
  store.get(inTenant(tenant, nodes, nodeId))?.record.name ?? nodeId

/** The slots since a time, at least one and at most an hour, and the time of the first. */
function windowSince(
  since: string | undefined,
  nowMs: number,
): { readonly slots: number; readonly step: number; readonly from: string } {
  const agoMs =
    since === undefined ? Number.POSITIVE_INFINITY : (durationMs(since) ?? nowMs - Date.parse(since))
  const slots = Math.min(USAGE_SLOTS, Math.max(1, Math.ceil(agoMs / USAGE_STEP_MS)))
  const last = Math.floor(nowMs / USAGE_STEP_MS)
  const from = new Date((last - slots + 1) * USAGE_STEP_MS).toISOString()
  return { slots, step: USAGE_STEP_MS / 1000, from }
}
