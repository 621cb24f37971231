// The epochs of live data as the notes of the pool have them, and releases of volumes. A release is written between the
// steps of a pass, because each pass rewrites notes that it has read before. A release that the next pass cannot write is
// dropped: written later, it could hit a volume that has a writer again.

import type { DesiredCopy, VolumeId } from '@holdfast/contract'
import type { LiveCopies, Released } from '../ports/live-copies.ts'
import type { VolumePool } from '../ports/volume-pool.ts'
import { type PoolCopies, perform, readPoolCopies } from './pool-copies.ts'

/** A pass that hangs, because its pool does, must not hold up the replication of other volumes. */
const RELEASE_MS = 30_000

interface PendingRelease extends PromiseWithResolvers<void> {
  readonly released: Released
}

export interface LiveView extends LiveCopies {
  /** Writes the releases that wait, at the begin of a pass. Returns the content of the pool afterwards. */
  writeReleases(pool: VolumePool, held: PoolCopies): Promise<PoolCopies>
  /** Keeps the content of the pool at the end of a pass. */
  update(held: PoolCopies | undefined): void
}

/** `check` runs a pass that begins after the call, and never rejects. */
export function createLiveView(
  check: () => Promise<void>,
  desired: ReadonlyMap<VolumeId, DesiredCopy>,
): LiveView {
  const pending = new Map<VolumeId, PendingRelease>()
  let latest: PoolCopies | undefined
  const noteOf = (volume: VolumeId) => latest?.find(volume)?.note

  async function writeRelease(pool: VolumePool, held: PoolCopies, volume: VolumeId): Promise<void> {
    const waiting = pending.get(volume)
    if (waiting === undefined) return
    pending.delete(volume)
    const note = held.find(volume)?.note
    try {
      if (desired.get(volume)?.handOverTo !== waiting.released.to)
        throw new Error(`The handover of ${volume} was canceled.`)
      // A newer epoch may have arrived since the last checkpoint was acknowledged.
      if (note?.content?.epoch !== waiting.released.checkpoint.epoch || note.epoch !== note.content.epoch)
        throw new Error(`The live data of ${volume} is not of the epoch that is released.`)
      await perform(pool, volume, { kind: 'note', note: { ...note, released: waiting.released } })
      waiting.resolve()
    } catch (error) {
      waiting.reject(error)
    }
  }
  return {
    liveEpoch(volume) {
      const content = noteOf(volume)?.content
      return content?.isMade === true ? content.epoch : undefined
    },
    isReleased: (volume) => noteOf(volume)?.released !== undefined,
    release(volume, released) {
      const waiting = pending.get(volume) ?? { ...Promise.withResolvers<void>(), released }
      pending.set(volume, waiting)
      const drop = (reason: string): void => {
        if (pending.get(volume) === waiting) pending.delete(volume)
        waiting.reject(new Error(`The release of ${volume} was not written${reason}.`))
      }
      const deadline = setTimeout(() => drop(` within ${RELEASE_MS} ms`), RELEASE_MS)
      void check().then(() => drop(''))
      return waiting.promise.finally(() => clearTimeout(deadline))
    },
    async writeReleases(pool, held) {
      if (pending.size === 0) return held
      for (const volume of [...pending.keys()]) await writeRelease(pool, held, volume)
      return readPoolCopies(pool)
    },
    update(held) {
      latest = held
    },
  }
}
