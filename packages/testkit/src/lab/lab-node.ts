// One node of a lab: a machine with its own network, Docker Engine, router and, if the test provides one, agent.

import { type DockerEngine, type DockerLine, launchDockerEngine } from '../engines/docker-engine.ts'
import type { EngineCommand, EngineProcess } from '../engines/engine-process.ts'
import { type CaddyPlace, type CaddyService, launchCaddy } from '../engines/start-caddy.ts'
import type { CommandOptions } from '../run-command.ts'
import { attachBounded, boundedFolder } from './bounded-disk.ts'
import { freezeCgroup, thawCgroup } from './cgroup-tree.ts'
import { bootClockMs, type LabDisks } from './lab-disks.ts'
import {
  type Cut,
  cutRule,
  disconnect,
  migrateRequests,
  plugIn,
  removeCuts,
  unplug,
  type Wire,
  wireEnd,
} from './lab-network.ts'
import { type LabPlace, placeAt, runInPlace, startInPlace } from './lab-place.ts'
import { cutPower } from './lab-remains.ts'
import type { LabSlot } from './lab-slot.ts'

export interface LabNode {
  /** Name of the node, such as `acme-1`. */
  readonly name: string
  readonly tenant: string
  /** The node's address on the lab's network. */
  readonly address: string
  readonly namespace: string
  /** Folder of the node. It survives a power cut, except for its subfolder `run`. */
  readonly folder: string
  /** Folder of the agent's state and pool. With `losesUnsynced`, it keeps only synced data at a power cut. */
  readonly disk: string
  readonly socketPath: string
  /** The node's engine; a new object after each power-on. */
  readonly engine: DockerEngine
  /** The node's router; a new object after each power-on. StartAgent must configure the agent to use this router. */
  readonly caddy: CaddyService
  /** Runs a command on the node with DOCKER_HOST set, and returns its output. The error of a failed command quotes its stderr. */
  exec(command: readonly string[], options?: CommandOptions): Promise<string>
  /** Starts a process of the node, which ends when the node loses power. */
  startProcess(command: EngineCommand): EngineProcess
}

export type ManagedProcess = Pick<EngineProcess, 'pid' | 'kill' | 'terminate' | 'pause' | 'resume'>
/** Starts the agent of a node, with the node's startProcess. */
export type StartAgent = (node: LabNode) => Promise<ManagedProcess>

export interface NodePlan {
  readonly name: string
  readonly tenant: string
  readonly line: DockerLine
  readonly index: number
}

/** A lab node with the operations that only the lab uses; tests use LabNode. */
export interface Machine {
  readonly node: LabNode
  powerOn(): Promise<void>
  /** Returns the moment of the cut on CLOCK_BOOTTIME, in milliseconds. */
  powerOff(atTheCut?: () => void): Promise<number>
  freeze(): void
  thaw(): void
  addCut(cut: Cut): void
  heal(): void
  agent(): ManagedProcess
  startAgent(): Promise<void>
  /** Called before the lab ends; afterwards no process of the node is restarted. */
  letGo(): void
}

export interface MachineParts {
  readonly startAgent?: StartAgent | undefined
  readonly disks?: LabDisks | undefined
  /** The size of the node's disk; undefined: the node shares the disk of this machine. */
  readonly diskBytes?: number | undefined
}

export function makeMachine(
  slot: LabSlot,
  wire: Wire,
  plan: NodePlan,
  { startAgent, disks, diskBytes }: MachineParts,
): Machine {
  const place = placeAt(slot, plan.index, wireEnd(wire, plan.index))
  const cuts: Cut[] = []
  let engine: DockerEngine | undefined
  let caddy: CaddyService | undefined
  let agent: ManagedProcess | undefined
  const machine: Machine = {
    node: makeNode(place, diskOf(place, { disks, diskBytes }), plan, {
      engine: () => engine ?? unavailable(plan, 'it is switched off'),
      caddy: () => caddy ?? unavailable(plan, 'it is switched off'),
    }),
    powerOn: async () => {
      await disks?.attach(place)
      if (diskBytes !== undefined) await attachBounded(place, diskBytes)
      plugIn(wire, plan.index)
      for (const cut of cuts) cutRule(place, cut)
      engine = await launchDockerEngine(place, plan.line)
      caddy = await launchCaddy(caddyPlace(place))
      if (startAgent !== undefined) await machine.startAgent()
    },
    powerOff: async (atTheCut = () => {}) => {
      engine = undefined
      // The node then sends no packet that closes a connection.
      if (disks !== undefined) disconnect(wire, plan.index)
      // Stop the router before the other processes, so that it is not restarted.
      const cut = caddy?.stop()
      caddy = undefined
      let cutMs = 0
      cutPower(place, () => {
        disks?.cut(place)
        cutMs = bootClockMs()
        atTheCut()
      })
      disks?.replace(place)
      unplug(wire, plan.index)
      await cut
      await agent?.kill()
      return cutMs
    },
    freeze: () => freezeCgroup(place.cgroup),
    thaw: () => thawCgroup(place.cgroup),
    addCut: (cut) => {
      cuts.push(cut)
      if (engine !== undefined) cutRule(place, cut)
    },
    heal: () => {
      cuts.length = 0
      if (engine !== undefined) removeCuts(place)
    },
    agent: () => agent ?? unavailable(plan, 'no agent was started on it'),
    startAgent: async () => {
      agent = await startAgent?.(machine.node)
    },
    letGo: () => void caddy?.stop(),
  }
  return machine
}

/** The folder of the agent's state. A bounded disk is that of the engine, too. */
function diskOf(place: LabPlace, { disks, diskBytes }: MachineParts): string {
  return diskBytes === undefined ? (disks?.folderOf(place) ?? place.folder) : boundedFolder(place)
}

/** Folders of the router on a node: its state survives a power cut, its socket does not. */
export const caddyPlace = (place: LabPlace): CaddyPlace => ({
  stateFolder: `${place.folder}/lib/caddy`,
  runFolder: `${place.folder}/run/caddy`,
  prepare: () => migrateRequests(place),
  startProcess: (command) => startInPlace(place, command),
})

interface NodeServices {
  engine(): DockerEngine
  caddy(): CaddyService
}

function makeNode(place: LabPlace, disk: string, plan: NodePlan, { engine, caddy }: NodeServices): LabNode {
  const socketPath = `${place.folder}/run/docker.sock`
  return {
    name: plan.name,
    tenant: plan.tenant,
    address: place.address,
    namespace: place.namespace,
    folder: place.folder,
    disk,
    socketPath,
    get engine() {
      return engine()
    },
    get caddy() {
      return caddy()
    },
    exec: (command, options = {}) =>
      runInPlace(place, command, {
        ...options,
        env: { DOCKER_HOST: `unix://${socketPath}`, ...options.env },
      }),
    startProcess: (command) => startInPlace(place, command),
  }
}

function unavailable(plan: NodePlan, why: string): never {
  throw new Error(`node ${plan.name}: ${why}`)
}
