// The folder and lifetime of an engine. An engine either uses a temporary folder and ends with this process, or uses a
// given folder and runs until it is ended explicitly.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { makeTempFolder, ownFolder, type TempFolder } from '../temp-folder.ts'
import { waitUntil } from '../wait-until.ts'
import type { EngineProcess } from './engine-process.ts'

export interface EngineHome {
  /**
   * Folder in which the engine keeps its data after stop(). If absent, a temporary folder is used and removed at stop().
   */
  readonly folder?: string
  /** If true, the engine's processes outlive the process that started them; the caller ends them by the returned pids. */
  readonly detached?: boolean
}

export function openHome(engine: string, home: EngineHome): TempFolder {
  return home.folder === undefined ? makeTempFolder(engine) : ownFolder(home.folder)
}

export function subfolder(folder: TempFolder, name: string): string {
  const path = join(folder.path, name)
  mkdirSync(path, { recursive: true, mode: 0o700 })
  return path
}

/** Waits until the engine answers. If the engine's process exits first, the error quotes the log. */
export async function waitUntilReady(
  engine: EngineProcess,
  what: string,
  probe: () => Promise<boolean>,
  timeoutMs = 60_000,
): Promise<void> {
  const giveUp = () => (engine.hasExited() ? `its process ended. ${engine.logTail()}` : undefined)
  await waitUntil(probe, { what, timeoutMs, giveUp })
}

/** Starts an engine and retries a few times with other ports, because another process may bind a free port first. */
export async function retryPortClash<T>(start: () => Promise<T>): Promise<T> {
  for (let left = 3; ; left -= 1) {
    try {
      return await start()
    } catch (error) {
      if (left === 0 || !String(error).includes('address already in use')) throw error
    }
  }
}
