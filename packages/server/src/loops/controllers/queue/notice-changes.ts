// Which deployments does a change concern? Their keys are enqueued and the tenant's view is kept up; nothing is decided here.
// DESIGN 4: an unplaced deployment is looked at again when something happens that one of its refusals waits for.

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
  else controller.tenants.get(tenant)?.sightings.forget(id)
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
  // Its view is made anew should the record only be unreadable.
  if (store.get(globally(tenants, id)) === undefined) controller.tenants.delete(tenant)
  known.view.applyQuota()
  wake(controller, tenant, known.waiting.curedBy('quota'))
}

function wake({ queue }: Pick<Controller, 'queue'>, tenant: TenantId, names: Iterable<string>): void {
  for (const name of names) queue.add(keyOf(tenant, name))
}

function noticeDeployment(controller: Controller, tenant: TenantId, name: string): void {
  const { store } = controller.deps
  const known = controller.tenants.get(tenant)
  const stored = store.get(inTenant(tenant, deployments, name))?.record
  wake(controller, tenant, known?.dependents.waitingFor(name) ?? [])
  if (stored === undefined) {
    known?.waiting.forget(name)
    known?.dependents.forget(name)
  } else {
    // Its requests may be others now.
    applyPlacement(controller, tenant, stored.uid)
    controller.queue.add(keyOf(tenant, name))
  }
}

function noticePlacement(controller: Controller, tenant: TenantId, uid: DeploymentUid): void {
  applyPlacement(controller, tenant, uid)
  const placement = controller.deps.store.get(inTenant(tenant, placements, uid))?.record
  if (placement === undefined) return
  controller.queue.add(keyOf(tenant, placement.name))
  wake(controller, tenant, controller.tenants.get(tenant)?.dependents.waitingFor(placement.name) ?? [])
}

function applyPlacement({ queue, tenants }: Controller, tenant: TenantId, uid: DeploymentUid): void {
  const known = tenants.get(tenant)
  const change = known?.view.applyPlacement(uid) ?? 'none'
  if (known && change === 'freed') {
    wake({ queue }, tenant, known.waiting.curedBy('placements'))
    for (const id of known.view.leaving()) queue.add(nodeKeyOf(tenant, id))
  }
  if (known && change === 'grown') wake({ queue }, tenant, known.waiting.curedByGrowth())
}

function noticeNode(controller: Controller, tenant: TenantId, id: NodeId): void {
  const { view, waiting, dependents } = tenantOf(controller, tenant)
  const kinds = view.applyNode(id)
  for (const kind of kinds) wake(controller, tenant, waiting.curedBy(kind))
  const disposition = view.dispositionOf(id)
  // One that returns may still have what is wished: its replicas count again. One with other labels may not have it any more.
  if (disposition !== 'staying' || kinds.includes('node_status') || kinds.includes('node_labels'))
    for (const name of view.deploymentsOn(id))
      wake(controller, tenant, [name, ...dependents.waitingFor(name)])
  if (disposition === 'leaving') controller.queue.add(nodeKeyOf(tenant, id))
}

function noticeObservation(controller: Controller, tenant: TenantId, id: string): void {
  const { store } = controller.deps
  const observed = store.get(inTenant(tenant, observations, id))?.record
  const placement = observed && store.get(inTenant(tenant, placements, observed.deployment))?.record
  if (observed === undefined || placement === undefined) return
  const { sightings, dependents } = tenantOf(controller, tenant)
  // Those that wait for it to be started ask for more than it does itself.
  wake(controller, tenant, dependents.waitingFor(placement.name))
  if (sightings.isNews(id, observed)) controller.queue.add(keyOf(tenant, placement.name))
}
