// Where a node of a lab lives: its namespace, its folder, its cgroup; and how a command gets in there.

import { join } from 'node:path'
import { engineBinary } from '../engines/engine-binaries.ts'
import { type EngineCommand, type EngineProcess, startEngineProcess } from '../engines/engine-process.ts'
import { type CommandOptions, runCommandAsync } from '../run-command.ts'
import { joinCgroup } from './cgroup-tree.ts'
import { namespaceFile, type WireEnd } from './lab-network.ts'
import { labCgroup } from './lab-remains.ts'
import type { LabSlot } from './lab-slot.ts'

export interface LabPlace extends WireEnd {
  /** Counted from 1. */
  readonly index: number
  /** `run` below it is lost with the power, the rest stays. */
  readonly folder: string
  /** Its processes are in `own` below it, its containers in `containers`: cgroup v2 wants them in leaves. */
  readonly cgroup: string
}

export function placeAt(slot: LabSlot, index: number, end: WireEnd): LabPlace {
  const name = `n${index}`
  return { ...end, index, folder: join(slot.folder, name), cgroup: `${labCgroup(slot)}/${name}` }
}

/** A process of the node: it dies with the node's power, and with us. */
export function startInPlace(place: LabPlace, command: EngineCommand): EngineProcess {
  const [binary, ...args] = enter(place, [command.binary, ...command.args])
  const started = startEngineProcess({ ...command, binary, args })
  // At once, before it can have started anything: whatever it starts belongs to the group as well.
  joinCgroup(`${place.cgroup}/own`, started.pid)
  return started
}

/** Runs a command on the node; its output, or an error that quotes what it complained of. */
export function runInPlace(
  place: LabPlace,
  command: readonly string[],
  options?: CommandOptions,
): Promise<string> {
  const [file, ...args] = enter(place, command)
  return runCommandAsync(file, args, options)
}

/** nsenter and not `ip netns exec`, which mounts /sys anew and hides the cgroups. */
function enter(place: LabPlace, command: readonly string[]): [string, ...string[]] {
  return [engineBinary('nsenter'), `--net=${namespaceFile(place.namespace)}`, ...command]
}
