// The tenant's bridge on this node, with a subnet of our choice: only on such a network does an engine let us choose the
// addresses of containers. One from before the agent did so is made anew while nothing is on it.

import { readFile } from 'node:fs/promises'
import type { TenantId } from '@holdfast/contract'
import { TENANT_LABEL, tenantNetwork } from '@holdfast/core/node'
import type { Logger } from 'pino'
import { type Engine, isFault } from '../ports/engine.ts'
import { chooseSubnet, machineRanges, readRange } from './subnets.ts'

/** On the network: the engine does not tell a subnet that was chosen for it from one that it chose itself. */
const SUBNET_LABEL = 'holdfast.io/subnet'
const ROUTE_TABLE = '/proc/net/route'
/** Somebody else may take the range that was free a moment ago. */
const TRIES = 5

export type NetworkEngine = Pick<
  Engine,
  'inspectNetwork' | 'listNetworks' | 'createNetwork' | 'removeNetwork' | 'listContainers'
>

/** Gives the subnet; undefined where the engine chooses the addresses. */
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
      log.warn({ network: name }, 'the network is from before: its engine chooses the addresses on it')
      return undefined
    }
    if (found !== undefined) await engine.removeNetwork(name)
    try {
      return await makeNetwork(engine, tenant, name)
    } catch (error) {
      // Made, or its range taken, by somebody else in between.
      if (left <= 1 || !isFault(error, 'conflict', 'refused')) throw error
    }
  }
}

/** Also of containers that do not run: they would find their network gone. */
async function isInUse(engine: NetworkEngine, tenant: TenantId): Promise<boolean> {
  return (await engine.listContainers()).some(({ labels }) => labels[TENANT_LABEL] === tenant)
}

async function makeNetwork(
  engine: NetworkEngine,
  tenant: TenantId,
  name: string,
): Promise<string | undefined> {
  const networks = await engine.listNetworks()
  const taken = networks.flatMap(({ subnets }) => subnets).flatMap((subnet) => readRange(subnet) ?? [])
  const routes = await readFile(ROUTE_TABLE, 'utf8').catch(() => '')
  const subnet = chooseSubnet([...taken, ...machineRanges(routes)])
  const labels = { [TENANT_LABEL]: tenant, ...(subnet === undefined ? {} : { [SUBNET_LABEL]: subnet }) }
  await engine.createNetwork(name, labels, subnet)
  return subnet
}
