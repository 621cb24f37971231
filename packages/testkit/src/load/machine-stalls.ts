// How long does this machine stall on its own? During a measurement, a timer and a write to disk show the delays that affect every
// process on it. Time limits allow for exactly that.

import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { makeTempFolder } from '../temp-folder.ts'

const EVERY_MS = 20

/** Start it just before a measurement. The returned function stops it and returns the longest stall in milliseconds. */
export async function watchMachineStalls(): Promise<() => Promise<number>> {
  const folder = makeTempFolder('stalls')
  const file = await open(join(folder.path, 'written'), 'w')
  let [begunMs, longestMs, ended] = [performance.now(), 0, false]
  const note = (): void => {
    longestMs = Math.max(longestMs, performance.now() - begunMs - EVERY_MS)
  }
  const watch = async (): Promise<void> => {
    while (!ended) {
      begunMs = performance.now()
      await pause(EVERY_MS)
      await file.write('.')
      await file.datasync()
      note()
    }
  }
  const watching = watch()
  return async () => {
    // A stall that still lasts is included.
    note()
    ended = true
    const stalledMs = longestMs
    await watching
    await file.close()
    folder.remove()
    return Math.round(stalledMs)
  }
}
