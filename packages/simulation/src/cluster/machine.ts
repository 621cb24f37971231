// A simulated machine with its container engine. Containers survive the agent and the servers and stop when the machine
// loses power. The script decides how long a container takes to start, whether it is healthy and when it exits.

import type { AssignmentId, ContainerTemplate, DesiredItem, Owner } from '@holdfast/contract'
import { isStartedByAgent, type OwnContainer, runsOnce, writtenVolumes } from '@holdfast/core/node'
import {
  type EngineNetworks,
  hasNetworks,
  type NetworkCalls,
  networkCalls,
  newEngineNetworks,
} from '../networks/engine-networks.ts'
import type { Behaviour, CreationFault } from '../script/script.ts'
import type { Random } from '../time/random.ts'
import {
  newProcess,
  newWallClock,
  type SimulatedProcess,
  type VirtualTime,
  type WallClock,
} from '../time/virtual-time.ts'
import { type Pool, unmountAll, writeInto } from '../volumes/pool.ts'
import type { Fencer } from '../volumes/promises/fencer-port.ts'
import type { MachineClock } from './machine-clock.ts'

export interface Container
  extends Pick<OwnContainer, 'id' | 'name' | 'createdAt' | 'assignmentId' | 'generation'> {
  readonly owner: Owner
  readonly templateHash: string
  readonly template: ContainerTemplate
  readonly hasCheck: boolean
  /** The names on the engine of the networks that it is attached to. */
  readonly attached: Set<string>
  /** `restarting`: it exited, and the engine starts it again; the agent leaves it to the engine. */
  state: 'created' | 'running' | 'restarting' | 'exited'
  stopping: boolean
  startedAt: number | undefined
  /** Start time on the wall clock of the machine, as the engine shows it. */
  startedWallMs: number | undefined
  exitCode: number | null
  restarts: number
  ready: boolean
  unhealthy: boolean
}

export interface Machine {
  readonly name: string
  /** The engine process of the machine. Its boot id changes each time the power returns. */
  process: SimulatedProcess
  powered: boolean
  connected: boolean
  labels: { readonly [key: string]: string }
  /** The capabilities that the agent states; undefined: it states none and has those of version 0.1.0. */
  capabilities: readonly string[] | undefined
  readonly capacity: { readonly cpuMillis: number; readonly memoryBytes: number }
  readonly containers: Map<string, Container>
  /** The times at which the logs of jobs were kept on the machine's disk. */
  readonly jobLogs: Map<AssignmentId, number>
  readonly networks: EngineNetworks
  /** The machine's storage pool; undefined if it has none. */
  readonly pool: Pool | undefined
  readonly clock: MachineClock
  readonly wall: WallClock
  /** Ends the writers whose lease ends; undefined if the machine has no pool. */
  fencer: Fencer | undefined
  /** Whether every process of the machine, its fencer included, is frozen. Its containers do not write then. */
  frozen: boolean
  /** Virtual time at which the machine last continued after it was frozen. */
  thawedAt: number
  /** Whether the agent reaches no server, although the machine has a network. */
  serversCut: boolean
  /** End of the last cut to the servers, in virtual milliseconds since the start. */
  serversCutUntil: number
  /** End of the last timed cut of the whole network. */
  networkCutUntil: number
  /** Machines to which messages of this machine do not arrive, with the ends of the cuts. */
  readonly cutTo: Map<string, number>
  /** The starts that a stopped engine has accepted, in their order; undefined while the engine runs. */
  queue: (() => void)[] | undefined
  /** When the engine stopped; undefined while it runs. */
  engineStoppedAt: number | undefined
  /** When the engine last ran again after a stop. */
  engineBackAt: number | undefined
  /** Why no container can be created now, and the assignments that met this; undefined while that is possible. */
  creationFault: { readonly cause: CreationFault; readonly met: Set<AssignmentId> } | undefined
  /** Called after each change of a container; set by the agent that currently runs on the machine. */
  onChange: () => void
  made: number
}

export interface MachineDeps {
  readonly time: VirtualTime
  readonly random: Random
  /** How a container behaves on a machine: start time, health and exit. */
  behaviourOf(container: Pick<Container, 'owner' | 'assignmentId'>, machine: Machine): Behaviour
  /** Called after every change of a container, so that the simulation checks the invariants again. */
  onTouched(): void
}

const DEFAULT_CAPACITY = { cpuMillis: 4000, memoryBytes: 8 * 1024 ** 3 }
/** Time until a container without a health check is ready. Other containers are ready when their check first passes. */
const UNCHECKED_READY_MS = 5_000
const FIRST_CHECK_MS = 400
const RESTART_MS = 1_000
const KILLED = 137

export function newMachine(given: {
  readonly name: string
  readonly labels: Machine['labels']
  readonly capacity: Machine['capacity'] | undefined
  readonly pool: Pool | undefined
  readonly clock: MachineClock
}): Machine {
  const { name, labels, pool, clock, capacity = DEFAULT_CAPACITY } = given
  const wall = newWallClock()
  return {
    name,
    labels,
    capabilities: undefined,
    capacity,
    process: newProcess(`engine ${name}`, wall),
    powered: true,
    connected: true,
    ...{ containers: new Map(), jobLogs: new Map(), networks: newEngineNetworks() },
    ...{ pool, clock, wall },
    ...{ fencer: undefined, frozen: false, thawedAt: Number.NEGATIVE_INFINITY, serversCut: false },
    ...{ serversCutUntil: 0, networkCutUntil: 0, cutTo: new Map(), queue: undefined },
    ...{ engineStoppedAt: undefined, engineBackAt: undefined },
    creationFault: undefined,
    onChange: () => {},
    made: 0,
  }
}

export interface Engine {
  readonly networks: NetworkCalls
  create(item: DesiredItem, name: string): Container
  /** Starts a container. A stopped engine starts it later, whatever has happened until then; the call ends then. */
  start(container: Container): Promise<void> | undefined
  /** Stops a container. Resolves when the container has ended. */
  stop(container: Container): Promise<void>
  remove(container: Container): void
  powerOff(): void
  powerOn(): void
  /** Stops the engine, not its containers, for a time. */
  suspend(forMs: number): void
}

export function engineOf(deps: MachineDeps, machine: Machine): Engine {
  const { time, random } = deps
  const changed = (): void => {
    deps.onTouched()
    machine.onChange()
  }
  const start = (container: Container): void => startContainer(deps, machine, container, changed)
  return {
    networks: networkCalls(deps, machine, deps.onTouched),
    start(container) {
      const { queue } = machine
      if (queue === undefined) {
        start(container)
        return undefined
      }
      return new Promise((resolve) => {
        queue.push(() => {
          if (machine.containers.has(container.id) && container.state !== 'running') start(container)
          resolve()
        })
      })
    },
    suspend: (forMs) => suspend(deps, machine, forMs),
    create: (item, name) => create(deps, machine, item, name, changed),
    stop(container) {
      container.stopping = true
      changed()
      return new Promise((resolve) => {
        const end = (): void => {
          writeLast(machine, container)
          Object.assign(container, { state: 'exited', exitCode: 0, ready: false })
          changed()
          resolve()
        }
        time.plan(100 + random.below(900), machine.process, () => {
          if (machine.queue === undefined) end()
          else machine.queue.push(end)
        })
      })
    },
    remove(container) {
      machine.containers.delete(container.id)
      changed()
    },
    powerOff() {
      machine.powered = false
      machine.process.alive = false
      machine.queue = undefined
      machine.fencer?.powerOff()
      for (const container of machine.containers.values()) cutOff(machine, container)
      if (machine.pool !== undefined) unmountAll(machine.pool)
      deps.onTouched()
    },
    powerOn() {
      machine.powered = true
      machine.frozen = false
      restartEngine(machine)
      machine.clock.reboot()
      machine.process = newProcess(`engine ${machine.name}`, machine.wall)
      machine.fencer?.powerOn()
      // The engine restarts every container that was not stopped on purpose, except those that only the agent starts.
      for (const container of machine.containers.values())
        if (container.state === 'exited' && !container.stopping && !isStartedByAgent(container.template))
          start(container)
      deps.onTouched()
    },
  }
}

/** Ends a container at a power cut. */
function cutOff(machine: Machine, container: Container): void {
  if (!machine.frozen) writeLast(machine, container)
  container.ready = false
  if (container.state === 'restarting') container.state = 'exited'
  if (container.state !== 'running') return
  container.state = 'exited'
  // The engine finds after the boot that the container was killed. It starts other containers at once.
  if (runsOnce(container.template)) container.exitCode = KILLED
}

/** Runs the starts and stops that the engine has accepted, once it is back. */
function suspend({ time }: MachineDeps, machine: Machine, forMs: number): void {
  if (machine.queue !== undefined) return
  const queue: (() => void)[] = []
  machine.queue = queue
  machine.engineStoppedAt = performance.now()
  time.plan(forMs, machine.process, () => {
    if (machine.queue !== queue) return
    machine.queue = undefined
    restartEngine(machine)
    for (const work of queue) work()
  })
}

function restartEngine(machine: Machine): void {
  if (machine.engineStoppedAt === undefined) return
  machine.engineStoppedAt = undefined
  machine.engineBackAt = performance.now()
}

/** Kills a container without the engine. It writes up to that moment. */
export function killContainer(machine: Machine, container: Container): void {
  writeLast(machine, container)
  Object.assign(container, { state: 'exited', exitCode: KILLED, ready: false })
  machine.onChange()
}

/** All writers of a machine that was frozen write at once, before any other process of it runs. */
export function writeAfterThaw(machine: Machine): void {
  for (const container of machine.containers.values()) writeLast(machine, container)
}

function startContainer(
  deps: MachineDeps,
  machine: Machine,
  container: Container,
  changed: () => void,
): void {
  const { time } = deps
  const startedAt = time.now
  if (!hasNetworks(machine, container.attached)) {
    if (container.state !== 'created') container.state = 'exited'
    changed()
    return
  }
  Object.assign(container, { state: 'running', stopping: false, startedAt, exitCode: null, ready: false })
  container.startedWallMs = startedAt + machine.wall.offMs
  writeLast(machine, container)
  machine.fencer?.onStarted()
  /** Runs `work` after a delay, unless the container was stopped or restarted by then. */
  const during = (delayMs: number, work: () => void): void =>
    time.plan(delayMs, machine.process, () => {
      const same = container.state === 'running' && container.startedAt === startedAt
      if (!same || machine.containers.get(container.id) !== container) return
      work()
      changed()
    })
  const { startMs, unhealthy = false, crashAfterMs, exitCode = 1 } = deps.behaviourOf(container, machine)
  container.unhealthy = unhealthy
  const readyMs = startMs ?? (container.hasCheck ? FIRST_CHECK_MS : UNCHECKED_READY_MS)
  if (!unhealthy)
    during(readyMs, () => {
      container.ready = true
    })
  if (crashAfterMs !== undefined)
    during(crashAfterMs, () => {
      writeLast(machine, container)
      const isRestarted = !isStartedByAgent(container.template)
      Object.assign(container, { state: isRestarted ? 'restarting' : 'exited', exitCode, ready: false })
      if (isRestarted) startAgain(deps, machine, container, changed)
    })
  changed()
}

/** A running container writes each of its volumes at its start and up to its last moment. */
function writeLast({ pool }: Machine, { state, template, assignmentId }: Container): void {
  if (pool === undefined || state !== 'running') return
  for (const volume of writtenVolumes(template)) writeInto(pool, volume, assignmentId)
}

/** Restarts a container as the engine does if the container was not stopped on purpose. */
function startAgain(deps: MachineDeps, machine: Machine, container: Container, changed: () => void): void {
  deps.time.plan(RESTART_MS, machine.process, () => {
    const isAwaited = container.state === 'restarting' && !container.stopping
    if (!isAwaited || !machine.containers.has(container.id)) return
    container.restarts += 1
    startContainer(deps, machine, container, changed)
  })
}

function create(
  { time }: MachineDeps,
  machine: Machine,
  item: DesiredItem,
  name: string,
  changed: () => void,
): Container {
  machine.made += 1
  const { assignmentId, generation, owner, templateHash } = item
  const container: Container = {
    id: `${machine.name}-${machine.made}`,
    name,
    createdAt: Math.floor((time.now + machine.wall.offMs) / 1000),
    assignmentId,
    generation,
    owner,
    templateHash,
    template: item.template,
    state: 'created',
    stopping: false,
    hasCheck: item.template.healthCheck !== undefined,
    attached: new Set(),
    ...{ startedAt: undefined, startedWallMs: undefined },
    exitCode: null,
    restarts: 0,
    ready: false,
    unhealthy: false,
  }
  machine.containers.set(container.id, container)
  changed()
  return container
}
