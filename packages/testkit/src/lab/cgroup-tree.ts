// Finds the processes of a lab node: all that were started in the node's cgroup, and their descendants. Shims and
// containers outlive the engine that created them, so a node is ended by its cgroup.

import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { isAlive, waitBriefly } from '../engines/process-record.ts'

const ROOT = '/sys/fs/cgroup'
const isUnified = existsSync(join(ROOT, 'cgroup.controllers'))
/**
 * The cgroup hierarchy in which the processes of a node are listed. With cgroup v1 any hierarchy lists them, but only the
 * freezer can also thaw paused processes.
 */
const TRACKED = isUnified ? ROOT : join(ROOT, 'freezer')

/** Moves the process into the cgroup, which is created if it does not exist. */
export function joinCgroup(path: string, pid: number): void {
  mkdirSync(join(TRACKED, path), { recursive: true })
  try {
    writeFileSync(join(TRACKED, path, 'cgroup.procs'), String(pid))
  } catch (error) {
    if (isAlive(pid)) throw error
  }
}

/**
 * Freezes every process in the cgroup and below it, and waits until none of them runs. A process that waits for a disk
 * is frozen only afterwards; it runs no instruction of its own until then.
 */
export function freezeCgroup(path: string): void {
  setFrozen(join(TRACKED, path), true)
  const deadline = performance.now() + 2_000
  while (!isFrozen(join(TRACKED, path)) && performance.now() < deadline) waitBriefly(1)
}

/** Lets the processes of a frozen cgroup continue. */
export const thawCgroup = (path: string): void => setFrozen(join(TRACKED, path), false)

/** Sends SIGKILL to every process in the cgroup and below it; returns when no process is left. */
export function killCgroup(path: string): void {
  const deadline = performance.now() + 10_000
  while (performance.now() < deadline) {
    const groups = foldersBelow(join(TRACKED, path))
    const pids = groups.flatMap(processesIn)
    if (pids.length === 0) return
    for (const pid of pids) killIfThere(pid)
    for (const group of groups) thaw(group)
    waitBriefly(2)
  }
  throw new Error(`processes of ${path} are alive 10 s after SIGKILL`)
}

/** Ids of the processes in the cgroup and below it that no frozen cgroup keeps from running. */
export const unfrozenBelow = (path: string): number[] =>
  foldersBelow(join(TRACKED, path))
    .filter((group) => !isKnownFrozen(group))
    .flatMap(processesIn)

/** A cgroup whose state cannot be read may run its processes. */
function isKnownFrozen(group: string): boolean {
  try {
    return isFrozen(group)
  } catch {
    return false
  }
}

/** Removes the empty cgroup from every hierarchy, because engines create the cgroup in each hierarchy. */
export function removeCgroup(path: string): void {
  for (const hierarchy of isUnified ? [ROOT] : readdirSync(ROOT).map((name) => join(ROOT, name))) {
    if (lstatSync(hierarchy).isSymbolicLink()) continue
    for (const folder of foldersBelow(join(hierarchy, path)).reverse()) removeGroup(folder)
  }
}

/** The folder itself and all folders below it, parents first. */
function foldersBelow(folder: string): string[] {
  const inside = foldersIn(folder)
  if (inside === undefined) return []
  return [folder, ...inside.flatMap((name) => foldersBelow(join(folder, name)))]
}

/** Undefined if the folder does not exist: engines remove cgroups at any time. */
function foldersIn(folder: string): string[] | undefined {
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  } catch {
    return undefined
  }
}

function processesIn(group: string): number[] {
  try {
    const pids = readFileSync(join(group, 'cgroup.procs'), 'utf8').split('\n').map(Number)
    // Process id 0 stands for a process of another pid namespace. A signal to 0 would go to the process group of the
    // caller.
    return pids.filter((pid) => pid > 1)
  } catch {
    // The engine removed the cgroup after it was listed and before it was read.
    return []
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {}
}

/** Thaws a cgroup. With cgroup v1 a frozen process receives no signal before it is thawed; v2 kills frozen processes. */
function thaw(group: string): void {
  if (isUnified) return
  try {
    setFrozen(group, false)
  } catch {}
}

function setFrozen(group: string, frozen: boolean): void {
  if (isUnified) writeFileSync(join(group, 'cgroup.freeze'), frozen ? '1' : '0')
  else writeFileSync(join(group, 'freezer.state'), frozen ? 'FROZEN' : 'THAWED')
}

function isFrozen(group: string): boolean {
  if (isUnified) return /^frozen 1$/m.test(readFileSync(join(group, 'cgroup.events'), 'utf8'))
  return readFileSync(join(group, 'freezer.state'), 'utf8').trim() === 'FROZEN'
}

/** Removes a cgroup. Retries, because the kernel may need a moment after the last process has exited. */
function removeGroup(folder: string): void {
  for (let left = 200; left > 0; left -= 1) {
    try {
      rmdirSync(folder)
      return
    } catch {
      if (!existsSync(folder)) return
      waitBriefly(5)
    }
  }
  throw new Error(`the cgroup ${folder} cannot be removed`)
}
