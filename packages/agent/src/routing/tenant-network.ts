// Ensures the tenant's bridge network on this node, with a subnet chosen by the agent. An unused network whose subnet was
// chosen by Docker is recreated.

import type { TenantId } from '@holdfast/contract'
import { TENANT_LABEL, tenantNetwork } from '@holdfast/core/node'
import type { Logger } from 'pino'
import type { Engine } from '../ports/engine.ts'
import { createOnFreeSubnet, retryConflicts, SUBNET_LABEL } from './free-subnet.ts'

export type NetworkEngine = Pick<
  Engine,
  'inspectNetwork' | 'listNetworks' | 'createNetwork' | 'removeNetwork' | 'listContainers'
>

/** Ensures the network and returns its subnet; undefined if Docker chooses the containers' addresses. */
export function ensureTenantNetwork(
  engine: NetworkEngine,
  tenant: TenantId,
  log: Logger,
): Promise<string | undefined> {
  const name = tenantNetwork(tenant)
  return retryConflicts(async () => {
    const found = await engine.inspectNetwork(name)
    const subnet = found?.labels[SUBNET_LABEL]
    if (subnet !== undefined) return subnet
    if (found !== undefined && (await isInUse(engine, tenant))) {
      log.warn({ network: name }, 'network in use has no configured subnet, so Docker chooses its addresses')
      return undefined
    }
    if (found !== undefined) await engine.removeNetwork(name)
    return createOnFreeSubnet(engine, { name, labels: { [TENANT_LABEL]: tenant }, internal: false })
  })
}

/** Whether the network has containers, including stopped containers, which could not start without their network. */
async function isInUse(engine: NetworkEngine, tenant: TenantId): Promise<boolean> {
  return (await engine.listContainers()).some(({ labels }) => labels[TENANT_LABEL] === tenant)
}
