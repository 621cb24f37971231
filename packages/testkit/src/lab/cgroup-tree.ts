// Which processes belong to a node of the lab? All that were started in its cgroup, and their descendants: shims and containers
// outlive the engine that created them. So a node is ended by its cgroup.

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
/** Where membership is read. With cgroup v1 any hierarchy would do; this one can also thaw paused processes. */
const TRACKED = isUnified ? ROOT : join(ROOT, 'freezer')

/** Creates the group if it does not exist. */
export function joinCgroup(path: string, pid: number): void {
  mkdirSync(join(TRACKED, path), { recursive: true })
  try {
    writeFileSync(join(TRACKED, path, 'cgroup.procs'), String(pid))
  } catch (error) {
    if (isAlive(pid)) throw error
  }
}

/** Sends SIGKILL to every process in the group and below it; returns when none is left. */
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

/** Removes the empty group from every hierarchy, because engines create it in each of them. */
export function removeCgroup(path: string): void {
  for (const hierarchy of isUnified ? [ROOT] : readdirSync(ROOT).map((name) => join(ROOT, name))) {
    if (lstatSync(hierarchy).isSymbolicLink()) continue
    for (const folder of foldersBelow(join(hierarchy, path)).reverse()) removeGroup(folder)
  }
}

/** The folder itself and all below it, parents first. */
function foldersBelow(folder: string): string[] {
  if (!existsSync(folder)) return []
  const inside = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  return [folder, ...inside.flatMap((entry) => foldersBelow(join(folder, entry.name)))]
}

function processesIn(group: string): number[] {
  try {
    const pids = readFileSync(join(group, 'cgroup.procs'), 'utf8').split('\n').map(Number)
    // Never 0, the number shown for a process of another pid namespace: a signal to 0 goes to our own group.
    return pids.filter((pid) => pid > 1)
  } catch {
    // An engine removed the group between listing and reading.
    return []
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {}
}

/** A frozen process receives no signal before it is thawed (cgroup v1; v2 kills frozen ones). */
function thaw(group: string): void {
  if (isUnified) return
  try {
    writeFileSync(join(group, 'freezer.state'), 'THAWED')
  } catch {}
}

/** The kernel may need a moment after the last process has exited. */
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
