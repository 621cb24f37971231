// Measures how long this machine itself stalls. During a measurement, a timer and a write to disk show the delays that
// affect every process of the machine. Tests add these delays to their time limits.

import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { makeTempFolder } from '../temp-folder.ts'

const EVERY_MS = 20

/**
 * Starts to watch for stalls, just before a measurement. The returned function ends the watch and returns the longest
 * stall in milliseconds.
 */
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
    // Include a stall that has not ended yet.
    note()
    ended = true
    const stalledMs = longestMs
    await watching
    await file.close()
    folder.remove()
    return Math.round(stalledMs)
  }
}
