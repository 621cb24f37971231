// The namespace, folder and cgroup of a lab node, and functions that run a command inside them.

import { join } from 'node:path'
import { engineBinary } from '../engines/engine-binaries.ts'
import { type EngineCommand, type EngineProcess, startEngineProcess } from '../engines/engine-process.ts'
import { type CommandOptions, runCommandAsync } from '../run-command.ts'
import { joinCgroup } from './cgroup-tree.ts'
import { namespaceFile, type WireEnd } from './lab-network.ts'
import { labCgroup } from './lab-remains.ts'
import type { LabSlot } from './lab-slot.ts'

export interface LabPlace extends WireEnd {
  /** Number of the node in the lab, counted from 1. */
  readonly index: number
  /** Folder of the node. Its subfolder `run` is lost at a power cut; everything else is kept. */
  readonly folder: string
  /**
   * The node's cgroup. Processes are in its child `own`, containers in `containers`, because cgroup v2 allows processes
   * only in leaves.
   */
  readonly cgroup: string
}

export function placeAt(slot: LabSlot, index: number, end: WireEnd): LabPlace {
  const name = `n${index}`
  return { ...end, index, folder: join(slot.folder, name), cgroup: `${labCgroup(slot)}/${name}` }
}

/** Starts a process of the node, which ends when the node loses power or when the test process ends. */
export function startInPlace(place: LabPlace, command: EngineCommand): EngineProcess {
  const [binary, ...args] = enter(place, [command.binary, ...command.args])
  const started = startEngineProcess({ ...command, binary, args })
  // The process joins the cgroup before it can start a child, so that its children belong to the cgroup as well.
  joinCgroup(`${place.cgroup}/own`, started.pid)
  return started
}

/** Runs a command on the node and returns its output. The error of a failed command quotes its stderr. */
export function runInPlace(
  place: LabPlace,
  command: readonly string[],
  options?: CommandOptions,
): Promise<string> {
  const [file, ...args] = enter(place, command)
  return runCommandAsync(file, args, options)
}

/**
 * Prefixes a command so that it runs on the node. Uses nsenter, because `ip netns exec` remounts /sys and hides the
 * cgroups.
 */
function enter(place: LabPlace, command: readonly string[]): [string, ...string[]] {
  return [engineBinary('nsenter'), `--net=${namespaceFile(place.namespace)}`, ...command]
}
