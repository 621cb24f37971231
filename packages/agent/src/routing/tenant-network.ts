// Ensures the tenant's bridge network on this node, with a subnet chosen by the agent: only then does Docker accept fixed
// container addresses. An unused network whose subnet was chosen by Docker is recreated.

import { readFile } from 'node:fs/promises'
import { defined, type TenantId } from '@holdfast/contract'
import { TENANT_LABEL, tenantNetwork } from '@holdfast/core/node'
import type { Logger } from 'pino'
import { type Engine, isFault } from '../ports/engine.ts'
import { chooseSubnet, machineRanges, readRange } from './subnets.ts'

/** Label that marks a network with a subnet chosen by the agent, because Docker does not show who chose a subnet. */
const SUBNET_LABEL = 'holdfast.io/subnet'
const ROUTE_TABLE = '/proc/net/route'
/** Number of attempts to create the network, because another process may use a subnet that was free a moment ago. */
const TRIES = 5

export type NetworkEngine = Pick<
  Engine,
  'inspectNetwork' | 'listNetworks' | 'createNetwork' | 'removeNetwork' | 'listContainers'
>

/** Ensures the network and returns its subnet; undefined if Docker chooses the containers' addresses. */
export async function ensureTenantNetwork(
  engine: NetworkEngine,
  tenant: TenantId,
  log: Logger,
): Promise<string | undefined> {
  const name = tenantNetwork(tenant)
  for (let left = TRIES; ; left -= 1) {
    const found = await engine.inspectNetwork(name)
    const subnet = found?.labels[SUBNET_LABEL]
    if (subnet !== undefined) return subnet
    if (found !== undefined && (await isInUse(engine, tenant))) {
      log.warn({ network: name }, 'network in use has no configured subnet, so Docker chooses its addresses')
      return undefined
    }
    if (found !== undefined) await engine.removeNetwork(name)
    try {
      return await createTenantNetwork(engine, tenant, name)
    } catch (error) {
      // Another process created the network or used its subnet in the meantime, so the next attempt may succeed.
      if (left <= 1 || !isFault(error, 'conflict', 'refused')) throw error
    }
  }
}

/** Whether the network has containers, including stopped containers, which could not start without their network. */
async function isInUse(engine: NetworkEngine, tenant: TenantId): Promise<boolean> {
  return (await engine.listContainers()).some(({ labels }) => labels[TENANT_LABEL] === tenant)
}

async function createTenantNetwork(
  engine: NetworkEngine,
  tenant: TenantId,
  name: string,
): Promise<string | undefined> {
  const networks = await engine.listNetworks()
  const taken = networks.flatMap(({ subnets }) => subnets).flatMap((subnet) => readRange(subnet) ?? [])
  const routes = await readFile(ROUTE_TABLE, 'utf8').catch(() => '')
  const subnet = chooseSubnet([...taken, ...machineRanges(routes)])
  const labels = { [TENANT_LABEL]: tenant, ...defined({ [SUBNET_LABEL]: subnet }) }
  await engine.createNetwork(name, labels, subnet)
  return subnet
}
