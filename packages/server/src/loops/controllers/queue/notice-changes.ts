// Finds the deployments that a record change concerns, enqueues their keys and updates the tenant's view; nothing is
// planned here. A deployment with an unplaced replica is requeued by a change that may make a node suitable. See
// docs/design/leadership.md#work-queue

import {
  asJobId,
  asOwner,
  deploymentUidOf,
  isFinalPhase,
  type JobId,
  jobIdOf,
  type NodeId,
  type Owner,
  ownerOf,
  type TenantId,
} from '@holdfast/contract'
import { claimedSpec } from '../../../operations/deployments/canary/end-canary.ts'
import type { Change } from '../../../store/cache/record-index.ts'
import {
  deployments,
  jobs,
  networks,
  nodeNames,
  nodes,
  observations,
  placements,
  type StoredJob,
  tenants,
  volumes,
} from '../../../store/records.ts'
import { globally, inTenant, placementAt } from '../../../store/transaction.ts'
import { type Controller, tenantOf } from '../controller.ts'
import { workKey } from './work-key.ts'

export function noticeChange(controller: Controller, { kind, key }: Change): void {
  const { tenant, folder, id } = key
  if (tenant === undefined) noticeGlobal(controller, folder, id)
  else if (!controller.deps.leadership.owns(tenant)) return
  else if (folder === deployments.folder) noticeDeployment(controller, tenant, id)
  else if (folder === placements.folder) noticePlacement(controller, tenant, asOwner(id))
  else if (folder === jobs.folder) noticeJob(controller, tenant, asJobId(id))
  else if (folder === nodes.folder) noticeNode(controller, tenant, id as NodeId)
  else if (folder === volumes.folder) noticeVolume(controller, tenant, id)
  else if (folder === networks.folder) noticeNetwork(controller, tenant, id)
  else if (folder !== observations.folder) return
  else if (kind === 'put') noticeObservation(controller, tenant, id)
  else controller.tenants.get(tenant)?.observed.forget(id)
}

function noticeGlobal(controller: Controller, folder: string, id: string): void {
  const { store } = controller.deps
  if (folder === nodeNames.folder) {
    for (const { tenant, nodeId } of store.get(globally(nodeNames, id))?.record.claims ?? [])
      if (controller.tenants.has(tenant)) noticeNode(controller, tenant, nodeId)
  }
  if (folder !== tenants.folder) return
  const tenant = id as TenantId
  const known = controller.tenants.get(tenant)
  if (known === undefined) return
  // A tenant without a readable record loses its state in memory; the next change of the tenant rebuilds the state.
  if (store.get(globally(tenants, id)) === undefined) controller.tenants.delete(tenant)
  known.view.applyQuota()
  requeue(controller, known.waiting.curedBy('quota'))
}

function requeue({ queue }: Pick<Controller, 'queue'>, keys: Iterable<string>): void {
  for (const key of keys) queue.add(key)
}

const deploymentKey = (tenant: TenantId, name: string): string =>
  workKey({ kind: 'deployment', tenant, name })

function noticeDeployment(controller: Controller, tenant: TenantId, name: string): void {
  const { store } = controller.deps
  const known = controller.tenants.get(tenant)
  const stored = store.get(inTenant(tenant, deployments, name))?.record
  const key = deploymentKey(tenant, name)
  requeue(controller, known?.dependents.waitingFor(name) ?? [])
  if (stored === undefined) {
    known?.waiting.forget(key)
    known?.dependents.forget(key)
  } else {
    // The resource requests of the deployment's replicas may have changed, so the view is updated.
    applyToView(controller, tenant, ownerOf('deployment', stored.uid))
    controller.queue.add(key)
  }
}

const jobKey = (tenant: TenantId, id: JobId): string => workKey({ kind: 'job', tenant, id })

function noticeJob(controller: Controller, tenant: TenantId, id: JobId): void {
  const { store } = controller.deps
  const key = jobKey(tenant, id)
  applyToView(controller, tenant, ownerOf('job', id))
  if (store.get(inTenant(tenant, jobs, id)) === undefined) controller.tenants.get(tenant)?.waiting.forget(key)
  controller.queue.add(key)
}

function noticePlacement(controller: Controller, tenant: TenantId, owner: Owner): void {
  applyToView(controller, tenant, owner)
  const job = jobIdOf(owner)
  if (job !== undefined) controller.queue.add(jobKey(tenant, job))
  const name = placedDeployment(controller, tenant, owner)
  if (name === undefined) return
  controller.queue.add(deploymentKey(tenant, name))
  requeue(controller, controller.tenants.get(tenant)?.dependents.waitingFor(name) ?? [])
}

/** The name of the deployment that owns a placement. This controller reconciles no other kind of owner. */
function placedDeployment({ deps }: Controller, tenant: TenantId, owner: Owner): string | undefined {
  if (deploymentUidOf(owner) === undefined) return undefined
  return deps.store.get(placementAt(tenant, owner))?.record.name
}

function applyToView({ queue, tenants }: Controller, tenant: TenantId, owner: Owner): void {
  const known = tenants.get(tenant)
  const change = known?.view.applyPlacement(owner) ?? 'none'
  if (known && change === 'freed') {
    requeue({ queue }, known.waiting.curedBy('placements'))
    for (const id of known.view.leaving()) queue.add(workKey({ kind: 'node', tenant, id }))
  }
  if (known && change === 'grown') requeue({ queue }, known.waiting.curedByGrowth())
}

function noticeNode(controller: Controller, tenant: TenantId, id: NodeId): void {
  const { view, waiting, dependents } = tenantOf(controller, tenant)
  const kinds = view.applyNode(id)
  for (const kind of kinds) requeue(controller, waiting.curedBy(kind))
  const disposition = view.dispositionOf(id)
  // After a change of status or labels, the node's deployments are requeued: replicas may serve again or suit no longer.
  if (disposition !== 'staying' || kinds.includes('node_status') || kinds.includes('node_labels'))
    for (const name of view.deploymentsOn(id))
      requeue(controller, [deploymentKey(tenant, name), ...dependents.waitingFor(name)])
  for (const job of view.jobsOn(id)) controller.queue.add(jobKey(tenant, job))
  if (disposition === 'leaving') controller.queue.add(workKey({ kind: 'node', tenant, id }))
}

/** Requeues the deployments that mount the volume, themselves or in a canary: their containers run where its primary is. */
function noticeVolume(controller: Controller, tenant: TenantId, id: string): void {
  for (const { record } of controller.deps.store.list(deployments, tenant))
    if (claimedSpec(record).volumes?.some(({ volume }) => volume === id))
      controller.queue.add(deploymentKey(tenant, record.spec.name))
  requeueJobs(controller, tenant, ({ spec }) => spec.volumes?.some(({ volume }) => volume === id) ?? false)
}

/** Requeues the jobs that have not ended and use a record that has changed. */
function requeueJobs(controller: Controller, tenant: TenantId, isUser: (job: StoredJob) => boolean): void {
  for (const { record } of controller.deps.store.list(jobs, tenant))
    if (!isFinalPhase(record.phase) && isUser(record)) controller.queue.add(jobKey(tenant, record.id))
}

/** Requeues the deployments that name the network, themselves or in a canary: they run where it is. */
function noticeNetwork(controller: Controller, tenant: TenantId, id: string): void {
  const network = controller.deps.store.get(inTenant(tenant, networks, id))?.record
  if (network === undefined) return
  for (const { record } of controller.deps.store.list(deployments, tenant))
    if (claimedSpec(record).networks?.includes(network.options.name))
      controller.queue.add(deploymentKey(tenant, record.spec.name))
  requeueJobs(controller, tenant, ({ spec }) => spec.networks?.includes(network.options.name) ?? false)
}

function noticeObservation(controller: Controller, tenant: TenantId, id: string): void {
  const { store } = controller.deps
  const observed = store.get(inTenant(tenant, observations, id))?.record
  const job = observed && jobIdOf(observed.owner)
  if (job !== undefined) controller.queue.add(jobKey(tenant, job))
  const name = observed && placedDeployment(controller, tenant, observed.owner)
  if (observed === undefined || name === undefined) return
  const { observed: dedup, dependents } = tenantOf(controller, tenant)
  // Dependents are requeued at every observation: they may wait for a state that does not change the deployment's plan.
  requeue(controller, dependents.waitingFor(name))
  if (dedup.isNews(id, observed)) controller.queue.add(deploymentKey(tenant, name))
}
