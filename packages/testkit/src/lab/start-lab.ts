// Many simulated machines on this host: each node is a network namespace with its own Docker Engine. The lab has a real
// registry and injectable faults. stop() removes everything; after a crash the next lab removes it.

import type { DockerLine } from '../engines/docker-engine.ts'
import { type Registry, type RegistryOptions, startRegistry } from '../engines/start-registry.ts'
import { makeDisks } from './lab-disks.ts'
import { layWire, plugInServers, type Wire, type WireEnd } from './lab-network.ts'
import { type LabNode, type Machine, makeMachine, type NodePlan, type StartAgent } from './lab-node.ts'
import { claimSlot, type LabSlot, releaseSlot } from './lab-slot.ts'

export interface LabOptions {
  readonly tenants: readonly string[]
  /** Number of nodes: one number for every tenant, or numbers by tenant name. */
  readonly nodesPerTenant: number | { readonly [tenant: string]: number }
  /** Version of the nodes' engines. With `mixed`, the nodes of a tenant alternate between old and new. */
  readonly engine?: DockerLine | 'mixed'
  readonly registry?: Pick<RegistryOptions, 'htpasswd'>
  /** If true, a power cut loses everything in `node.disk` that was not synced. Docker's own data is kept. */
  readonly losesUnsynced?: boolean
  /** Number of machines for servers of the control plane, without a Docker Engine; by default none. */
  readonly serverMachines?: number
  /** The size of each node's disk, which engine, router and agent share. By default nodes share the disk of this machine. */
  readonly diskBytes?: number
  /** Called for each node at power-on, once the node's engine and router are ready. */
  readonly startAgent?: StartAgent
}

/**
 * One end of a network cut. `control-plane` is this host with everything that listens at the lab's hostAddress, including
 * the registry, and all machines of servers.
 */
export type LabParty = LabNode | 'control-plane'
export type CutDirection = 'both' | 'a-to-b' | 'b-to-a'

export interface Lab {
  readonly nodes: readonly LabNode[]
  /** Address of this host as seen by the nodes. */
  readonly hostAddress: string
  /** Network namespaces and addresses of the machines of servers. */
  readonly serverMachines: readonly WireEnd[]
  readonly registry: Registry
  /** Drops packets from a to b, from b to a, or both, until heal() is called. The cut survives a power cut of a node. */
  partition(a: LabParty, b: LabParty, direction?: CutDirection): void
  /** Ends every network partition of the lab. */
  heal(): void
  killEngine(node: LabNode): Promise<void>
  restartEngine(node: LabNode): Promise<void>
  pauseEngine(node: LabNode): void
  resumeEngine(node: LabNode): void
  /** Ends the engine, and its containers with it, as an engine without live restore does. */
  stopEngine(node: LabNode): Promise<void>
  /** Kills the node's router with SIGKILL; the router restarts at once. */
  killCaddy(node: LabNode): Promise<void>
  killAgent(node: LabNode): Promise<void>
  pauseAgent(node: LabNode): void
  resumeAgent(node: LabNode): void
  /** Kills the node's agent, or ends it gracefully, and starts it again. */
  restartAgent(node: LabNode, end?: 'kill' | 'terminate'): Promise<void>
  /**
   * Cuts the node's power: sends SIGKILL to all its processes. The node's network, mounts and /run are lost, its disk is
   * kept, except for unsynced data with `losesUnsynced`. Returns the moment of the cut on CLOCK_BOOTTIME, in
   * milliseconds. The callback is called at this moment, while every process of the node is frozen.
   */
  powerOff(node: LabNode, atTheCut?: () => void): Promise<number>
  /** Boots the node again: first engine and router, then the agent. */
  powerOn(node: LabNode): Promise<void>
  /** Stops every process of the node, its fencer included, until thaw() is called. */
  freeze(node: LabNode): void
  thaw(node: LabNode): void
  stop(): Promise<void>
}

export async function startLab(options: LabOptions): Promise<Lab> {
  const slot = await claimSlot()
  let registry: Registry | undefined
  try {
    const wire = layWire(slot)
    registry = await startRegistry({ ...options.registry, address: wire.hostAddress })
    const disks = options.losesUnsynced === true ? makeDisks(slot) : undefined
    const { startAgent, diskBytes } = options
    const serverMachines = plugInServers(wire, options.serverMachines ?? 0)
    const parts = { startAgent, disks, diskBytes }
    const machines = planNodes(options).map((plan) => makeMachine(slot, wire, plan, parts))
    await allBoot(machines)
    return labOf({ slot, wire, registry, serverMachines }, machines)
  } catch (error) {
    releaseSlot(slot)
    await registry?.stop()
    throw error
  }
}

/** Boots all nodes. Waits for every node even if one fails, so that no node is still starting when the lab is removed. */
async function allBoot(machines: readonly Machine[]): Promise<void> {
  const booted = await Promise.allSettled(machines.map((machine) => machine.powerOn()))
  const failed = booted.find((one) => one.status === 'rejected')
  if (failed === undefined) return
  for (const machine of machines) machine.letGo()
  throw failed.reason
}

function planNodes({ tenants, nodesPerTenant, engine = 'mixed' }: LabOptions): NodePlan[] {
  const wanted = (tenant: string) =>
    typeof nodesPerTenant === 'number' ? nodesPerTenant : (nodesPerTenant[tenant] ?? 0)
  const lineOf = (number: number): DockerLine =>
    engine === 'mixed' ? (number % 2 === 1 ? 'old' : 'new') : engine
  const plans = tenants.flatMap((tenant) =>
    Array.from({ length: wanted(tenant) }, (_, at) => ({
      tenant,
      name: `${tenant}-${at + 1}`,
      line: lineOf(at + 1),
    })),
  )
  return plans.map((plan, at) => ({ ...plan, index: at + 1 }))
}

interface LabBase {
  readonly slot: LabSlot
  readonly wire: Wire
  readonly registry: Registry
  readonly serverMachines: readonly WireEnd[]
}

function labOf({ slot, wire, registry, serverMachines }: LabBase, machines: readonly Machine[]): Lab {
  const of = (node: LabNode): Machine => {
    const found = machines.find((machine) => machine.node === node)
    if (found === undefined) throw new Error(`${node.name} is not a node of this lab`)
    return found
  }
  return {
    nodes: machines.map((machine) => machine.node),
    hostAddress: wire.hostAddress,
    serverMachines,
    registry,
    ...engineFaults(),
    ...agentFaults(of),
    ...partitions([wire.hostAddress, ...serverMachines.map(({ address }) => address)], of, machines),
    powerOff: (node, atTheCut) => of(node).powerOff(atTheCut),
    powerOn: (node) => of(node).powerOn(),
    freeze: (node) => of(node).freeze(),
    thaw: (node) => of(node).thaw(),
    stop: async () => {
      for (const machine of machines) machine.letGo()
      releaseSlot(slot)
      await registry.stop()
    },
  }
}

function engineFaults() {
  return {
    killEngine: (node: LabNode) => node.engine.kill(),
    restartEngine: (node: LabNode) => node.engine.restart(),
    pauseEngine: (node: LabNode) => node.engine.pause(),
    resumeEngine: (node: LabNode) => node.engine.resume(),
    stopEngine: (node: LabNode) => node.engine.end(),
    killCaddy: (node: LabNode) => node.caddy.kill(),
  }
}

function agentFaults(of: (node: LabNode) => Machine) {
  return {
    killAgent: (node: LabNode) => of(node).agent().kill(),
    pauseAgent: (node: LabNode) => of(node).agent().pause(),
    resumeAgent: (node: LabNode) => of(node).agent().resume(),
    restartAgent: async (node: LabNode, end: 'kill' | 'terminate' = 'kill') => {
      await of(node).agent()[end]()
      await of(node).startAgent()
    },
  }
}

function partitions(
  controlPlane: readonly string[],
  of: (node: LabNode) => Machine,
  machines: readonly Machine[],
) {
  const addressesOf = (party: LabParty) => (party === 'control-plane' ? controlPlane : [party.address])
  const cut = (a: LabParty, b: LabParty) => {
    const atNode = b === 'control-plane' ? a : b
    if (atNode === 'control-plane') throw new Error('the control plane cannot be cut off from itself')
    for (const from of addressesOf(a)) for (const to of addressesOf(b)) of(atNode).addCut({ from, to })
  }
  return {
    partition: (a: LabParty, b: LabParty, direction: CutDirection = 'both') => {
      if (direction !== 'b-to-a') cut(a, b)
      if (direction !== 'a-to-b') cut(b, a)
    },
    heal: () => {
      for (const machine of machines) machine.heal()
    },
  }
}
