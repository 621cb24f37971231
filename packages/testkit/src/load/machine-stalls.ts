// How long does this machine stand still by itself? Beside a time that is measured, a timer and a write to the disk show
// what everybody on it waits for at that moment: processor and disk. A bound on the time allows for that, and for no more.

import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { makeTempFolder } from '../temp-folder.ts'

const EVERY_MS = 20

/** To be begun just before what is measured; what it gives ends it and tells the longest standstill, in milliseconds. */
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
    // One that still lasts counts so far.
    note()
    ended = true
    const told = longestMs
    await watching
    await file.close()
    folder.remove()
    return Math.round(told)
  }
}
