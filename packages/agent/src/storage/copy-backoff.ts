// Delays between the attempts to change a copy that fails. A changed desired copy ends its delay.

import { type DesiredCopy, encodeOpen, type VolumeId } from '@holdfast/contract'
import { retryDelay } from '../converge/retry-backoff.ts'

interface Failure {
  readonly count: number
  readonly untilMs: number
  readonly desired: string
}

export interface CopyBackoff {
  /** Records a failure and returns the delay until the next attempt. */
  recordFailure(copy: DesiredCopy): number
  isWaiting(copy: DesiredCopy): boolean
  clear(volume: VolumeId): void
  /** Forgets the failures of copies that are not desired. */
  keepOnly(volumes: ReadonlyMap<VolumeId, unknown>): void
  /** Time until the end of the earliest delay; infinite if no copy waits. */
  soonestMs(): number
}

export function createCopyBackoff(nowMs: () => number, random: () => number): CopyBackoff {
  const failures = new Map<VolumeId, Failure>()
  return {
    recordFailure(copy) {
      const count = (failures.get(copy.volume)?.count ?? 0) + 1
      const delayMs = retryDelay(count, random())
      failures.set(copy.volume, { count, untilMs: nowMs() + delayMs, desired: encodeOpen(copy) })
      return delayMs
    },
    isWaiting(copy) {
      const failure = failures.get(copy.volume)
      return failure !== undefined && failure.untilMs > nowMs() && failure.desired === encodeOpen(copy)
    },
    clear: (volume) => void failures.delete(volume),
    keepOnly(volumes) {
      for (const volume of failures.keys()) if (!volumes.has(volume)) failures.delete(volume)
    },
    soonestMs() {
      const now = nowMs()
      const waits = [...failures.values()].map(({ untilMs }) => untilMs - now)
      return Math.min(...waits.filter((waitMs) => waitMs > 0))
    },
  }
}
