// A temporary folder for each engine, removed when the engine stops. Folders of killed processes are recognized by the
// process id in their name, and the next process that needs a folder removes them.

import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pid } from 'node:process'
import { isAlive } from './engines/process-record.ts'

const PREFIX = 'holdfast-'
const NAME = /^holdfast-(\d+)-/
const live = new Set<string>()

export interface TempFolder {
  readonly path: string
  remove(): void
}

/** Creates a temporary folder. It is removed by remove(), or at the latest when this process exits. */
export function makeTempFolder(purpose: string): TempFolder {
  watchExit()
  const path = mkdtempSync(join(tmpdir(), `${PREFIX}${pid}-${purpose}-`))
  live.add(path)
  return { path, remove: () => removeFolder(path) }
}

/** Uses a folder of the caller, which is created if absent and never removed by remove(). */
export function ownFolder(path: string): TempFolder {
  mkdirSync(path, { recursive: true })
  return { path, remove: () => {} }
}

/** Removes the temporary folders of processes that no longer exist. One with a file system that is still mounted stays. */
export function sweepTempFolders(): void {
  for (const name of readdirSync(tmpdir())) {
    const owner = Number(NAME.exec(name)?.[1] ?? Number.NaN)
    if (Number.isNaN(owner) || isAlive(owner)) continue
    try {
      rmSync(join(tmpdir(), name), { recursive: true, force: true })
    } catch {}
  }
}

let watching = false
function watchExit(): void {
  if (watching) return
  watching = true
  sweepTempFolders()
  process.once('exit', removeAll)
  exitOnTerm()
}

/** Makes the process run its exit handlers at SIGTERM, with which a test runner ends its workers. */
export function exitOnTerm(): void {
  if (process.listenerCount('SIGTERM') === 0) process.once('SIGTERM', () => process.exit(143))
}

/** Removes all folders of this process. A folder that cannot be removed is left to a later process. */
function removeAll(): void {
  for (const path of live) {
    try {
      removeFolder(path)
    } catch {}
  }
}

function removeFolder(path: string): void {
  live.delete(path)
  // A killed engine may still write to a file for a moment, so the removal is retried for a while.
  rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
}
