// Numbers of checkpoints. A number is noted in the pool before it is used, so that none is used twice in an epoch even if
// every checkpoint was dropped.

import { checkpointShape, decodeOpen, type VolumeCheckpoint, type VolumeId } from '@holdfast/contract'
import { nextNumber } from '@holdfast/core/node'
import type { VolumePool } from '../ports/volume-pool.ts'

const SUFFIX = '-checkpoints'

export interface CheckpointNumbers {
  /** Reserves a number for all volumes of a group: the same for each of them. */
  reserve(pool: VolumePool, group: readonly NumberedVolume[]): Promise<number>
}

export interface NumberedVolume {
  readonly volume: VolumeId
  readonly epoch: number
  /** All checkpoints of the volume that this node knows, on any node. */
  readonly known: readonly VolumeCheckpoint[]
}

export function createCheckpointNumbers(): CheckpointNumbers {
  const read = new WeakMap<VolumePool, Promise<ReadonlyMap<string, string>>>()
  const reserved = new Map<VolumeId, VolumeCheckpoint>()

  async function lastOf(pool: VolumePool, volume: VolumeId): Promise<VolumeCheckpoint[]> {
    const last = reserved.get(volume)
    if (last !== undefined) return [last]
    const notes = read.get(pool) ?? pool.readNotes()
    read.set(pool, notes)
    notes.catch(() => read.delete(pool))
    const text = (await notes).get(`${volume}${SUFFIX}`)
    return text === undefined ? [] : [decodeOpen(checkpointShape, JSON.parse(text))]
  }
  return {
    async reserve(pool, group) {
      const numbers = await Promise.all(
        group.map(async ({ volume, known }) => nextNumber([...known, ...(await lastOf(pool, volume))])),
      )
      const number = Math.max(...numbers)
      for (const { volume, epoch } of group) {
        await pool.writeNote(`${volume}${SUFFIX}`, JSON.stringify({ epoch, number }))
        reserved.set(volume, { epoch, number })
      }
      return number
    },
  }
}

/** Removes the numbers of volumes that the pool no longer has. */
export async function removeOldNumbers(pool: VolumePool, isKept: (volume: string) => boolean): Promise<void> {
  const names = [...(await pool.readNotes()).keys()].filter((name) => name.endsWith(SUFFIX))
  for (const name of names) if (!isKept(name.slice(0, -SUFFIX.length))) await pool.removeNote(name)
}
