// The networks of a simulated container engine. Like those of a real one they survive the agent and the power, no two have one
// name, and a network with a running container cannot be removed. A script can lose one, or let another program take a name.

import { asNetworkId, type DesiredNetwork, type TenantId } from '@holdfast/contract'
import { type FoundNetwork, NETWORK_LABEL, networkLabels, TENANT_LABEL } from '@holdfast/core/node'
import type { SimulatedNetwork } from '../cluster/snapshot.ts'
import type { Random } from '../time/random.ts'
import type { SimulatedProcess, VirtualTime } from '../time/virtual-time.ts'

export interface EngineNetworks {
  readonly found: Map<string, FoundNetwork>
  /** Networks of another tenant that exist until the script removes them. */
  readonly foreign: Set<string>
  /** Networks that the script has removed. */
  readonly lost: Set<string>
  made: number
}

export const newEngineNetworks = (): EngineNetworks => ({
  ...{ found: new Map(), foreign: new Set(), lost: new Set() },
  made: 0,
})

/** The part of a container that the networks of its engine use. */
interface Attachable {
  readonly id: string
  readonly state: string
  readonly attached: Set<string>
}

/** The part of a machine that the networks of its engine use. */
interface NetworkedMachine {
  readonly name: string
  readonly process: SimulatedProcess
  /** The calls that a stopped engine will answer. */
  readonly queue: (() => void)[] | undefined
  readonly networks: EngineNetworks
  readonly containers: ReadonlyMap<string, Attachable>
}

/** `conflict`: the name is in use, or a container that runs is attached. */
export type NetworkAnswer = 'done' | 'conflict' | 'not_found'

/** A stopped engine answers a call when it is back. */
export interface NetworkCalls {
  list(): Promise<readonly FoundNetwork[]>
  create(network: Omit<FoundNetwork, 'engineId'>): Promise<NetworkAnswer>
  remove(engineId: string): Promise<NetworkAnswer>
  connect(name: string, container: Attachable): Promise<NetworkAnswer>
}

const LONGEST_CALL_MS = 40

export function networkCalls(
  { time, random }: { readonly time: VirtualTime; readonly random: Random },
  machine: NetworkedMachine,
  onTouched: () => void,
): NetworkCalls {
  const call = <T>(work: () => T): Promise<T> =>
    new Promise((resolve) => {
      const answer = (): void => {
        onTouched()
        resolve(work())
      }
      time.plan(1 + random.below(LONGEST_CALL_MS), machine.process, () => {
        if (machine.queue === undefined) answer()
        else machine.queue.push(answer)
      })
    })
  return {
    list: () => call(() => [...machine.networks.found.values()]),
    create: (network) => call(() => (createNetwork(machine, network) === undefined ? 'conflict' : 'done')),
    remove: (engineId) => call(() => removeNetwork(machine, engineId)),
    connect: (name, container) => call(() => connect(machine, name, container)),
  }
}

const isNamed = ({ networks }: NetworkedMachine, name: string): boolean =>
  [...networks.found.values()].some((network) => network.name === name)

/** Whether the engine has every network that the container is attached to; otherwise it cannot start. */
export const hasNetworks = (machine: NetworkedMachine, names: Iterable<string>): boolean =>
  [...names].every((name) => isNamed(machine, name))

function createNetwork(
  machine: NetworkedMachine,
  network: Omit<FoundNetwork, 'engineId'>,
): string | undefined {
  const { networks, name } = machine
  if (isNamed(machine, network.name)) return undefined
  networks.made += 1
  const engineId = `${name}-net-${networks.made}`
  networks.found.set(engineId, { ...network, engineId })
  return engineId
}

function removeNetwork({ networks, containers }: NetworkedMachine, engineId: string): NetworkAnswer {
  const network = networks.found.get(engineId)
  if (network === undefined) return 'not_found'
  const isInUse = [...containers.values()].some(
    ({ state, attached }) => state === 'running' && attached.has(network.name),
  )
  if (isInUse) return 'conflict'
  networks.found.delete(engineId)
  return 'done'
}

function connect(machine: NetworkedMachine, name: string, container: Attachable): NetworkAnswer {
  if (!isNamed(machine, name) || !machine.containers.has(container.id)) return 'not_found'
  container.attached.add(name)
  return 'done'
}

/** Removes a network although containers are attached to it. */
export function loseNetwork({ networks, containers }: NetworkedMachine, name: string): void {
  for (const [engineId, network] of networks.found) {
    if (network.name !== name || networks.foreign.has(engineId)) continue
    networks.lost.add(engineId)
    networks.found.delete(engineId)
  }
  for (const { attached } of containers.values()) attached.delete(name)
}

/** The labels of a network of a tenant whose id begins as that of the machine's tenant does. */
const FOREIGN_TENANT: TenantId = '99999999-9999-4999-8999-999999999999' as TenantId
const FOREIGN: Pick<DesiredNetwork, 'id' | 'options'> = {
  id: asNetworkId('net_01JD0000000000000000000000'),
  options: { name: 'foreign', driver: 'bridge', labels: {}, internal: false },
}

/** Creates a network that is not the tenant's, unless the name is in use. Returns a function that removes it. */
export function takeNetworkName(machine: NetworkedMachine, name: string): () => void {
  const labels = networkLabels(FOREIGN_TENANT, FOREIGN)
  const engineId = createNetwork(machine, { name, internal: false, labels })
  if (engineId === undefined) return () => {}
  machine.networks.foreign.add(engineId)
  return () => {
    machine.networks.foreign.delete(engineId)
    machine.networks.lost.add(engineId)
    removeNetwork(machine, engineId)
  }
}

export const seenNetworks = ({ networks }: NetworkedMachine): SimulatedNetwork[] =>
  [...networks.found.values()].map(({ engineId, name, internal, labels }) => ({
    ...{ engineId, name, internal },
    ...{ tenant: labels[TENANT_LABEL] ?? '', id: labels[NETWORK_LABEL] ?? '' },
  }))
