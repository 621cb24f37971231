// Kills every process below cgroups, of v1 or v2. The fencer repeats it until nothing is left. No other package is imported.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isFrozen, setFrozen } from './cgroup-state.ts'

/** Processes that fork cannot outrun a kill while they are frozen. One that hangs in the kernel never freezes. */
const FREEZE_MS = 20
const POLL_MS = 1
const GONE = ['ENOENT', 'ENODEV']

/** `unknown`: the cgroup could not be read, so it may have processes. */
export type Population = 'empty' | 'busy' | 'unknown'

/** Kills all processes below the cgroups once, and returns for each what was there before. */
export function killCgroups(cgroups: readonly string[]): Map<string, Population> {
  const found = new Map(cgroups.map((path) => [path, population(path)]))
  const busy = cgroups.filter((path) => found.get(path) !== 'empty')
  const stubborn = busy.filter((path) => !attempt(() => killUnified(path)))
  for (const path of stubborn) attempt(() => setFrozen(path, true))
  waitUntilFrozen(stubborn)
  const folders = stubborn.flatMap((path) => orNone(() => foldersBelow(path)))
  const pids = folders.flatMap((folder) => orNone(() => readProcesses(folder)))
  // Process id 0 is a process of another namespace; a signal to 0 would go to the process group of the caller.
  for (const pid of pids.filter((one) => one > 1)) attempt(() => process.kill(pid, 'SIGKILL'))
  // With cgroup v1 a signal reaches a process only when it is thawed, and each folder may be frozen on its own.
  for (const path of folders) attempt(() => setFrozen(path, false))
  return found
}

function population(path: string): Population {
  try {
    if (!existsSync(path)) return isInHierarchy(path) ? 'empty' : 'unknown'
    const events = join(path, 'cgroup.events')
    if (existsSync(events)) return /^populated 0$/m.test(readFileSync(events, 'utf8')) ? 'empty' : 'busy'
    return foldersBelow(path).some((folder) => readProcesses(folder).length > 0) ? 'busy' : 'empty'
  } catch (error) {
    // Removed between two calls: the kernel removes only empty cgroups.
    return isGone(error) ? 'empty' : 'unknown'
  }
}

/** A cgroup that does not exist has no processes, but only where cgroups are mounted. */
function isInHierarchy(path: string): boolean {
  const parent = dirname(path)
  if (parent === path) return false
  return existsSync(parent) ? existsSync(join(parent, 'cgroup.procs')) : isInHierarchy(parent)
}

/** The kernel kills all processes below, those that fork included. Throws with v1, and before Linux 5.14. */
function killUnified(path: string): void {
  const file = join(path, 'cgroup.kill')
  if (!existsSync(file)) throw new Error(`${path} has no cgroup.kill.`)
  writeFileSync(file, '1')
}

function waitUntilFrozen(paths: readonly string[]): void {
  const endMs = performance.now() + FREEZE_MS
  while (performance.now() < endMs && !paths.every(seemsFrozen)) pause(POLL_MS)
}

function seemsFrozen(path: string): boolean {
  try {
    return isFrozen(path)
  } catch {
    return true
  }
}

/** The folder and all folders below it. */
function foldersBelow(folder: string): string[] {
  const names = ifThere(() => readdirSync(folder, { withFileTypes: true }), [])
  const inside = names.filter((entry) => entry.isDirectory())
  return [folder, ...inside.flatMap(({ name }) => foldersBelow(join(folder, name)))]
}

const readProcesses = (folder: string): number[] =>
  ifThere(() => readFileSync(join(folder, 'cgroup.procs'), 'utf8'), '')
    .split('\n')
    .filter(Boolean)
    .map(Number)

function orNone<T>(read: () => T[]): T[] {
  try {
    return read()
  } catch {
    return []
  }
}

function ifThere<T>(read: () => T, otherwise: T): T {
  try {
    return read()
  } catch (error) {
    if (isGone(error)) return otherwise
    throw error
  }
}

const isGone = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && GONE.includes(String(error.code))

/** A step that fails shows in the next reading of the cgroup. */
function attempt(step: () => void): boolean {
  try {
    step()
    return true
  } catch {
    return false
  }
}

const pause = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
