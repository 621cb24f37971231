// A temporary folder for each engine, removed when the engine stops. Folders of killed processes are recognized by the process id
// in their name and removed by the next process that needs a folder.

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

/** A new folder. It is removed by remove(), at the latest when this process exits. */
export function makeTempFolder(purpose: string): TempFolder {
  watchExit()
  const path = mkdtempSync(join(tmpdir(), `${PREFIX}${pid}-${purpose}-`))
  live.add(path)
  return { path, remove: () => removeFolder(path) }
}

/** A folder of the caller: created if absent, never removed here. */
export function ownFolder(path: string): TempFolder {
  mkdirSync(path, { recursive: true })
  return { path, remove: () => {} }
}

/** Removes the folders of processes that no longer exist. */
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

/** A test runner ends its workers by SIGTERM, which runs exit handlers only if a listener is registered. */
export function exitOnTerm(): void {
  if (process.listenerCount('SIGTERM') === 0) process.once('SIGTERM', () => process.exit(143))
}

/** A folder that cannot be removed is left to a later process, so that the others are still removed. */
function removeAll(): void {
  for (const path of live) {
    try {
      removeFolder(path)
    } catch {}
  }
}

function removeFolder(path: string): void {
  live.delete(path)
  // A just-killed engine may still have a file open for writing, so rm is retried for a while.
  rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
}
