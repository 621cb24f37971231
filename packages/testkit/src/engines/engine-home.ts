// Where an engine lives and how long: a temporary folder and our own lifetime, or a given folder and until it is ended.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { makeTempFolder, ownFolder, type TempFolder } from '../temp-folder.ts'
import { waitUntil } from '../wait-until.ts'
import type { EngineProcess } from './engine-process.ts'

export interface EngineHome {
  /** Keeps the data here and leaves it there at stop(). Absent: a temporary folder that goes at stop(). */
  readonly folder?: string
  /** The processes outlive the starter; end them by the pids that the starter returns. */
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

/** Waits until the engine answers; when its process ends before, the error quotes what it said. */
export async function waitUntilReady(
  engine: EngineProcess,
  what: string,
  probe: () => Promise<boolean>,
  timeoutMs = 60_000,
): Promise<void> {
  const giveUp = () => (engine.hasExited() ? `its process ended. ${engine.logTail()}` : undefined)
  await waitUntil(probe, { what, timeoutMs, giveUp })
}

/** A port that was free may be taken before the engine listens on it: starts anew, with other ports, a few times. */
export async function retryPortClash<T>(start: () => Promise<T>): Promise<T> {
  for (let left = 3; ; left -= 1) {
    try {
      return await start()
    } catch (error) {
      if (left === 0 || !String(error).includes('address already in use')) throw error
    }
  }
}
