// The data that the node's pool keeps in quarantine, for clients of the server: it is read as an archive, and deleted on an
// operator's order. See docs/design/endings.md#quarantine

import type { KeptEpoch } from '@holdfast/contract'
import type { Logger } from 'pino'
import { type CheckpointStream, PoolError, type VolumePool } from '../ports/volume-pool.ts'

export interface Divergences {
  /** Opens the archive; undefined if the pool has no such data. Rejects if the pool cannot be read. */
  read(kept: KeptEpoch): Promise<CheckpointStream | undefined>
  /** Deletes the data, and resolves when it is gone: true if there was any. Rejects if that is unknown. */
  remove(kept: KeptEpoch): Promise<boolean>
}

interface DivergenceDeps {
  /** Undefined if the node has no pool, or it cannot be read. */
  pool(): VolumePool | undefined
  /** Called after data was deleted. */
  onRemoved(): void
  readonly log: Logger
}

export function createDivergences({ pool, onRemoved, log }: DivergenceDeps): Divergences {
  const requirePool = (): VolumePool => {
    const found = pool()
    if (found === undefined) throw new PoolError('unreadable', 'The pool of this node cannot be read.')
    return found
  }
  return {
    read: async ({ volume, epoch }) => requirePool().readQuarantined(volume, epoch),
    async remove({ volume, epoch }) {
      const found = requirePool()
      const held = (await found.listQuarantined()).filter(
        (one) => one.volume === volume && one.epoch === epoch,
      )
      for (const one of held) await found.removeQuarantined(one)
      if (held.length === 0) return false
      log.warn({ volume, epoch }, 'quarantined data deleted by an operator')
      onRemoved()
      return true
    },
  }
}
