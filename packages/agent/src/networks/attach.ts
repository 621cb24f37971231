// Attaches containers to the networks of their templates: a new container to those after its first, because older engines
// accept only one network at the creation, and running containers to a network that the engine had lost.

import type { AssignmentId, DesiredItem, TenantId } from '@holdfast/contract'
import { containerNetworks, endpointBody, readOwnLabels, TENANT_LABEL } from '@holdfast/core/node'
import type { Engine } from '../ports/engine.ts'
import type { Addresses } from '../routing/addresses.ts'

export interface AttachDeps {
  readonly engine: Pick<Engine, 'inspectContainer' | 'connectNetwork' | 'listLabelled'>
  readonly tenant: TenantId
  readonly addresses: Pick<Addresses, 'assign'>
}

/** Attaches the container to those networks of its template that it lacks. Safe to repeat after a crash. */
export async function attachContainer(deps: AttachDeps, item: DesiredItem, id: string): Promise<void> {
  const { template } = item
  if (template.networks !== undefined)
    await attachTo(deps, item, id, containerNetworks(template, deps.tenant))
}

async function attachTo(
  { engine, addresses }: AttachDeps,
  { assignmentId, template }: DesiredItem,
  id: string,
  networks: readonly string[],
): Promise<void> {
  const { settings } = await engine.inspectContainer(id)
  const attached = Object.keys(settings.NetworkSettings?.Networks ?? {})
  for (const network of networks) {
    if (attached.includes(network)) continue
    await engine.connectNetwork(
      network,
      id,
      endpointBody(template.name, addresses.assign(assignmentId, network)),
    )
  }
}

/** Attaches the running containers that join the network and lack it, because the engine had lost it. */
export async function attachContainers(
  deps: AttachDeps,
  items: ReadonlyMap<AssignmentId, DesiredItem>,
  network: string,
): Promise<void> {
  const isJoining = ({ template, desired }: DesiredItem): boolean =>
    desired === 'running' && containerNetworks(template, deps.tenant).includes(network)
  if (![...items.values()].some(isJoining)) return
  for (const { id, labels, state } of await deps.engine.listLabelled(TENANT_LABEL, deps.tenant)) {
    const own = readOwnLabels(labels, deps.tenant)
    const item = own && items.get(own.assignmentId)
    // A container that does not run is attached before its start.
    if (item !== undefined && isJoining(item) && state === 'running')
      await attachTo(deps, item, id, [network])
  }
}
