// A folder of its own for each engine, removed when the engine stops. What a killed process left behind is found by the
// process id in the folder's name and removed by the next process that asks for a folder.

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

/** A new folder, gone at remove() and at the latest when this process exits. */
export function makeTempFolder(purpose: string): TempFolder {
  watchExit()
  const path = mkdtempSync(join(tmpdir(), `${PREFIX}${pid}-${purpose}-`))
  live.add(path)
  return { path, remove: () => removeFolder(path) }
}

/** A folder that the caller owns: made if absent, never removed by us. */
export function ownFolder(path: string): TempFolder {
  mkdirSync(path, { recursive: true })
  return { path, remove: () => {} }
}

/** Removes the folders of processes that are gone. */
export function sweepTempFolders(): void {
  for (const name of readdirSync(tmpdir())) {
    const owner = Number(NAME.exec(name)?.[1] ?? Number.NaN)
    if (Number.isNaN(owner) || isAlive(owner)) continue
    rmSync(join(tmpdir(), name), { recursive: true, force: true })
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

/** A test runner ends its workers by a signal, which runs no exit handler unless somebody listens to it. */
export function exitOnTerm(): void {
  if (process.listenerCount('SIGTERM') === 0) process.once('SIGTERM', () => process.exit(143))
}

/** What cannot be removed now is swept by a later process; it must not keep the others from going. */
function removeAll(): void {
  for (const path of live) {
    try {
      removeFolder(path)
    } catch {}
  }
}

function removeFolder(path: string): void {
  live.delete(path)
  // An engine that was killed a moment ago may still have a file open for writing: rm is tried again for a while.
  rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
}
