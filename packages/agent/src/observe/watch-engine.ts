// Watches whether the engine answers. Each check lists the containers with a label value that none has: unlike a ping, the
// list proves that the engine reads its containers, and it is short however many there are.

import type { EngineHealth } from '@holdfast/contract'
import { ASSIGNMENT_LABEL } from '@holdfast/core/node'
import { type Engine, EngineError } from '../ports/engine.ts'

export interface EngineWatch {
  health(): EngineHealth
  close(): void
}

interface EngineWatchDeps {
  readonly engine: Pick<Engine, 'listLabelled'>
  monotonicMs(): number
  readonly checkMs?: number
}

const CHECK_MS = 2_000
/** A check that is this much late shows that this process was suspended, not that the engine was silent. */
const LATE_MS = 5_000

export function createEngineWatch({ engine, monotonicMs, checkMs = CHECK_MS }: EngineWatchDeps): EngineWatch {
  let answeredAt = monotonicMs()
  /** Time of the first answer since the last check without one. */
  let steadySince: number | undefined
  let checkedAt = answeredAt
  let isChecking = false
  const answered = (): void => {
    answeredAt = monotonicMs()
    steadySince ??= answeredAt
  }
  const failed = (error: unknown): void => {
    // An engine that refuses a request works.
    if (error instanceof EngineError && error.fault !== 'timeout' && error.fault !== 'unavailable') answered()
    else steadySince = undefined
  }
  const skipSuspension = (now: number): void => {
    const lateMs = now - checkedAt - checkMs
    if (lateMs < LATE_MS) return
    answeredAt += lateMs
    if (steadySince !== undefined) steadySince += lateMs
    checkedAt += lateMs
  }
  const check = (): void => {
    const now = monotonicMs()
    skipSuspension(now)
    checkedAt = now
    if (isChecking) return
    isChecking = true
    void engine
      .listLabelled(ASSIGNMENT_LABEL, '')
      .then(answered, failed)
      .finally(() => {
        isChecking = false
      })
  }
  const timer = setInterval(check, checkMs)
  check()
  return {
    health() {
      const now = monotonicMs()
      skipSuspension(now)
      const silentMs = Math.max(0, Math.round(now - answeredAt))
      const steadyMs = steadySince === undefined ? 0 : Math.max(0, Math.round(now - steadySince))
      return { silentMs, steadyMs }
    },
    close: () => clearInterval(timer),
  }
}
