// Reads the usage of the replicas of a deployment. Both the metrics endpoint and decisions about the number of replicas use
// it, so that people see the values that decisions are made of.

import { type Assignment, type DeploymentUid, type NodeId, ownerOf, type TenantId } from '@holdfast/contract'
import { isCanaryReplica, isReady, type MeanUsage, meanUsage } from '@holdfast/core'
import type { AskedNode, AssignmentUsage, ReadUsage, UsageAnswer } from '../../ports/usage.ts'
import { nodes, observations } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { inTenant, placementAt } from '../../store/transaction.ts'

export interface UsageDeps {
  readonly store: Pick<Store, 'get' | 'list' | 'fresh'>
  readonly readUsage: ReadUsage
}

export interface MeasuredReplica {
  readonly assignment: Assignment
  readonly isReady: boolean
  /** Undefined if no sample of the replica is known. */
  readonly usage: AssignmentUsage | undefined
}

export interface DeploymentUsage {
  readonly replicas: readonly MeasuredReplica[]
  /** The mean of the last minute per ready replica of the deployment, without those of its canary. */
  readonly mean: MeanUsage
  /** Ids of the nodes whose usage is unknown. */
  readonly unreachable: readonly NodeId[]
}

/** The usage of a deployment's replicas in the newest slots; with 0 slots only the means of the last minute. */
export async function readDeploymentUsage(
  { store, readUsage }: UsageDeps,
  tenant: TenantId,
  uid: DeploymentUid,
  slots: number,
): Promise<DeploymentUsage> {
  const assignments = assignmentsOf(store, tenant, uid)
  return measureReplicas(store, tenant, assignments, await readUsage(tenant, nodesOf(assignments), slots))
}

export const assignmentsOf = (
  store: Pick<Store, 'get'>,
  tenant: TenantId,
  uid: DeploymentUid,
): readonly Assignment[] =>
  store.get(placementAt(tenant, ownerOf('deployment', uid)))?.record.assignments ?? []

/** The nodes to ask about the assignments of a deployment. */
export const nodesOf = (assignments: readonly Assignment[]): AskedNode[] =>
  [...Map.groupBy(assignments, ({ nodeId }) => nodeId)].map(([nodeId, some]) => ({
    nodeId,
    assignments: some.map(({ id }) => id),
  }))

/** The usage of assignments by an answer that may also have others. */
export function measureReplicas(
  store: Pick<Store, 'get'>,
  tenant: TenantId,
  assignments: readonly Assignment[],
  { nodes: found, unreachable }: UsageAnswer,
): DeploymentUsage {
  const usages = new Map([...found.values()].flatMap(({ series }) => series.map((one) => [one.id, one])))
  const replicas = assignments.map((assignment) => ({
    assignment,
    isReady: isServing(store, tenant, assignment),
    usage: usages.get(assignment.id),
  }))
  const stable = replicas.filter(({ assignment }) => !isCanaryReplica(assignment))
  const mean = meanUsage(
    stable.map(({ isReady: ready, usage }) => ({ isReady: ready, ...usage?.lastMinute })),
  )
  const own = new Set(assignments.map(({ nodeId }) => nodeId))
  return { replicas, mean, unreachable: unreachable.filter((id) => own.has(id)) }
}

/** Whether a replica is ready and stays. A replica on a lost node is not, whatever was reported last. */
export function isServing(
  store: Pick<Store, 'get'>,
  tenant: TenantId,
  { id, nodeId, desired }: Assignment,
): boolean {
  const seen = store.get(inTenant(tenant, observations, id))?.record
  const status = store.get(inTenant(tenant, nodes, nodeId))?.record.status
  return (
    desired === 'running' &&
    seen !== undefined &&
    isReady(seen) &&
    status !== undefined &&
    status !== 'failed'
  )
}
