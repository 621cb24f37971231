// Faults of one machine of a lab, each with a name. A fault begins at a known moment and lasts until it is ended.

import type { Lab, LabNode, ManagedProcess } from '@holdfast/testkit'
import { bootClockMs } from '../lab/lab-disks.ts'
import { oneInTurn } from '../rotation.ts'

export interface FaultWorld {
  readonly lab: Lab
  fencer(node: LabNode): ManagedProcess
  startFencer(node: LabNode): void
  /** Sets the wall clock of a machine's agent and fencer forward, or back, by milliseconds. */
  stepClock(node: LabNode, byMs: number): void
}

export interface BegunFault {
  /** When the fault began, on CLOCK_BOOTTIME. */
  readonly atMs: number
  end(): Promise<void>
}

export interface MachineFault {
  readonly name: string
  /** Whether every process of the machine, its fencer included, is kept from running without being ended. */
  readonly freezes?: true
  /** The longest time to the promotion, if it is another than that of the world. */
  readonly promotedMs?: number
  /** Begins the fault. The callback is called at its first moment. */
  begin(world: FaultWorld, node: LabNode, atTheCut: () => void): Promise<BegunFault>
}

const HOUR_MS = 3_600_000
/** A machine that was frozen whole can write until its fencer has run. */
export const THAWED_MS = 500

const others = ({ lab }: FaultWorld, node: LabNode) => [
  ...lab.nodes.filter((other) => other !== node),
  'control-plane' as const,
]

/** A fault that begins with one synchronous step. */
const at = (
  name: string,
  begin: (world: FaultWorld, node: LabNode) => void,
  end: (world: FaultWorld, node: LabNode) => Promise<void> | void,
): MachineFault => ({
  name,
  async begin(world, node, atTheCut) {
    begin(world, node)
    atTheCut()
    return { atMs: bootClockMs(), end: async () => end(world, node) }
  },
})

export const POWER_CUT: MachineFault = {
  name: 'power cut',
  begin: async ({ lab }, node, atTheCut) => ({
    atMs: await lab.powerOff(node, atTheCut),
    end: () => lab.powerOn(node),
  }),
}

export const PARTITION = at(
  'partition',
  (world, node) => {
    for (const other of others(world, node)) world.lab.partition(node, other)
  },
  ({ lab }) => lab.heal(),
)

export const SENDS_NOTHING = at(
  'one-way partition, sends nothing',
  (world, node) => {
    for (const other of others(world, node)) world.lab.partition(node, other, 'a-to-b')
  },
  ({ lab }) => lab.heal(),
)

/**
 * The primary asks the server to drop the silent copy, and does not receive the answer. The copy is no longer promotable, so
 * the volume has no writer until the machine receives again.
 */
export const RECEIVES_NOTHING = at(
  'one-way partition, receives nothing',
  (world, node) => {
    for (const other of others(world, node)) world.lab.partition(node, other, 'b-to-a')
  },
  ({ lab }) => lab.heal(),
)

export const AGENT_STOPPED = at(
  'agent stopped with SIGSTOP',
  ({ lab }, node) => lab.pauseAgent(node),
  ({ lab }, node) => lab.resumeAgent(node),
)

export const AGENT_AND_ENGINE_STOPPED = at(
  'agent and dockerd stopped with SIGSTOP',
  ({ lab }, node) => {
    lab.pauseAgent(node)
    lab.pauseEngine(node)
  },
  ({ lab }, node) => {
    lab.resumeEngine(node)
    lab.resumeAgent(node)
  },
)

/** The agent answers and renews its lease, so the writer stays. */
export const ENGINE_STOPPED = at(
  'dockerd stopped with SIGSTOP',
  ({ lab }, node) => lab.pauseEngine(node),
  ({ lab }, node) => lab.resumeEngine(node),
)

/** Kills both; the fencer is started again at once, as systemd does, and the agent at the end of the fault. */
const killBoth = (name: string, order: readonly ['agent' | 'fencer', 'agent' | 'fencer']): MachineFault => ({
  name,
  async begin(world, node, atTheCut) {
    for (const each of order) await (each === 'agent' ? world.lab.killAgent(node) : world.fencer(node).kill())
    atTheCut()
    world.startFencer(node)
    return { atMs: bootClockMs(), end: () => world.lab.restartAgent(node) }
  },
})
export const AGENT_THEN_FENCER_KILLED = killBoth('agent killed, then fencer', ['agent', 'fencer'])
export const FENCER_THEN_AGENT_KILLED = killBoth('fencer killed, then agent', ['fencer', 'agent'])

export const FROZEN: MachineFault = {
  ...at(
    'machine frozen',
    ({ lab }, node) => lab.freeze(node),
    ({ lab }, node) => lab.thaw(node),
  ),
  freezes: true,
}

/** Wall clocks of the machines step apart by two hours, and the machine is cut off. */
export const CLOCKS_STEPPED = at(
  'wall clocks stepped, partition',
  (world, node) => {
    for (const other of world.lab.nodes) world.stepClock(other, other === node ? HOUR_MS : -HOUR_MS)
    for (const other of others(world, node)) world.lab.partition(node, other)
  },
  (world) => {
    for (const node of world.lab.nodes) world.stepClock(node, 0)
    world.lab.heal()
  },
)

/** Faults after which a copy must be promoted, by what happens to the machine. */
export const KINDS_OF_FAULTS: readonly (readonly MachineFault[])[] = [
  // It loses its power.
  [POWER_CUT],
  // It is cut off.
  [PARTITION, SENDS_NOTHING, CLOCKS_STEPPED],
  // Its programs are stopped.
  [AGENT_STOPPED, AGENT_AND_ENGINE_STOPPED],
  // It is frozen whole.
  [FROZEN],
  // Its programs are killed.
  [AGENT_THEN_FENCER_KILLED, FENCER_THEN_AGENT_KILLED],
]

/** A fault of each kind, and all faults in development and in long runs. */
export const PROMOTING_FAULTS: readonly MachineFault[] = KINDS_OF_FAULTS.flatMap((faults) =>
  oneInTurn('promotion-faults', faults),
)
