// Finds the deployments that a record change concerns, enqueues their keys and updates the tenant's view; nothing is
// planned here. A deployment with an unplaced replica is requeued by a change that may make a node suitable. See
// docs/design/leadership.md#work-queue

import type { DeploymentUid, NodeId, TenantId } from '@holdfast/contract'
import type { Change } from '../../../store/cache/record-index.ts'
import { deployments, nodeNames, nodes, observations, placements, tenants } from '../../../store/records.ts'
import { globally, inTenant } from '../../../store/transaction.ts'
import { type Controller, keyOf, nodeKeyOf, tenantOf } from '../controller.ts'

export function noticeChange(controller: Controller, { kind, key }: Change): void {
  const { tenant, folder, id } = key
  if (tenant === undefined) noticeGlobal(controller, folder, id)
  else if (!controller.deps.leadership.owns(tenant)) return
  else if (folder === deployments.folder) noticeDeployment(controller, tenant, id)
  else if (folder === placements.folder) noticePlacement(controller, tenant, id as DeploymentUid)
  else if (folder === nodes.folder) noticeNode(controller, tenant, id as NodeId)
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
  requeue(controller, tenant, known.waiting.curedBy('quota'))
}

function requeue({ queue }: Pick<Controller, 'queue'>, tenant: TenantId, names: Iterable<string>): void {
  for (const name of names) queue.add(keyOf(tenant, name))
}

function noticeDeployment(controller: Controller, tenant: TenantId, name: string): void {
  const { store } = controller.deps
  const known = controller.tenants.get(tenant)
  const stored = store.get(inTenant(tenant, deployments, name))?.record
  requeue(controller, tenant, known?.dependents.waitingFor(name) ?? [])
  if (stored === undefined) {
    known?.waiting.forget(name)
    known?.dependents.forget(name)
  } else {
    // The resource requests of the deployment's replicas may have changed, so the view is updated.
    applyToView(controller, tenant, stored.uid)
    controller.queue.add(keyOf(tenant, name))
  }
}

function noticePlacement(controller: Controller, tenant: TenantId, uid: DeploymentUid): void {
  applyToView(controller, tenant, uid)
  const placement = controller.deps.store.get(inTenant(tenant, placements, uid))?.record
  if (placement === undefined) return
  controller.queue.add(keyOf(tenant, placement.name))
  requeue(controller, tenant, controller.tenants.get(tenant)?.dependents.waitingFor(placement.name) ?? [])
}

function applyToView({ queue, tenants }: Controller, tenant: TenantId, uid: DeploymentUid): void {
  const known = tenants.get(tenant)
  const change = known?.view.applyPlacement(uid) ?? 'none'
  if (known && change === 'freed') {
    requeue({ queue }, tenant, known.waiting.curedBy('placements'))
    for (const id of known.view.leaving()) queue.add(nodeKeyOf(tenant, id))
  }
  if (known && change === 'grown') requeue({ queue }, tenant, known.waiting.curedByGrowth())
}

function noticeNode(controller: Controller, tenant: TenantId, id: NodeId): void {
  const { view, waiting, dependents } = tenantOf(controller, tenant)
  const kinds = view.applyNode(id)
  for (const kind of kinds) requeue(controller, tenant, waiting.curedBy(kind))
  const disposition = view.dispositionOf(id)
  // After a change of status or labels, the node's deployments are requeued: replicas may serve again or suit no longer.
  if (disposition !== 'staying' || kinds.includes('node_status') || kinds.includes('node_labels'))
    for (const name of view.deploymentsOn(id))
      requeue(controller, tenant, [name, ...dependents.waitingFor(name)])
  if (disposition === 'leaving') controller.queue.add(nodeKeyOf(tenant, id))
}

function noticeObservation(controller: Controller, tenant: TenantId, id: string): void {
  const { store } = controller.deps
  const observed = store.get(inTenant(tenant, observations, id))?.record
  const placement = observed && store.get(inTenant(tenant, placements, observed.deployment))?.record
  if (observed === undefined || placement === undefined) return
  const { observed: dedup, dependents } = tenantOf(controller, tenant)
  // Dependents are requeued at every observation: they may wait for a state that does not change the deployment's plan.
  requeue(controller, tenant, dependents.waitingFor(placement.name))
  if (dedup.isNews(id, observed)) controller.queue.add(keyOf(tenant, placement.name))
}
