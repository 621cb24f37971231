// Creates a network of the engine with a subnet chosen by the agent: only then does Docker accept fixed container
// addresses.

import { readFile } from 'node:fs/promises'
import { defined } from '@holdfast/contract'
import { type Engine, isFault } from '../ports/engine.ts'
import { chooseSubnet, machineRanges, readRange } from './subnets.ts'

/** Label that marks a network with a subnet chosen by the agent, because Docker does not show who chose a subnet. */
export const SUBNET_LABEL = 'holdfast.io/subnet'
const ROUTE_TABLE = '/proc/net/route'
/** Number of attempts to create the network, because another process may use a subnet that was free a moment ago. */
const TRIES = 5

export interface NewNetwork {
  readonly name: string
  readonly labels: { readonly [key: string]: string }
  /** Whether the network has no way out. */
  readonly internal: boolean
}

type NetworkEngine = Pick<Engine, 'listNetworks' | 'createNetwork'>

/** Creates the network and returns its subnet; undefined if Docker chose one, because the agent's pool is full. */
export async function createOnFreeSubnet(
  engine: NetworkEngine,
  { name, labels, internal }: NewNetwork,
): Promise<string | undefined> {
  const networks = await engine.listNetworks()
  const taken = networks.flatMap(({ subnets }) => subnets).flatMap((subnet) => readRange(subnet) ?? [])
  const routes = await readFile(ROUTE_TABLE, 'utf8').catch(() => '')
  const subnet = chooseSubnet([...taken, ...machineRanges(routes)])
  const all = { ...labels, ...defined({ [SUBNET_LABEL]: subnet }) }
  await engine.createNetwork(name, all, { internal, ...defined({ subnet }) })
  return subnet
}

/** Repeats the work while another process creates the same network or uses its subnet at the same moment. */
export async function retryConflicts<T>(work: () => Promise<T>): Promise<T> {
  for (let left = TRIES; ; left -= 1) {
    try {
      return await work()
    } catch (error) {
      if (left <= 1 || !isFault(error, 'conflict', 'refused')) throw error
    }
  }
}
