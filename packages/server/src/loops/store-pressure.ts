// How full is the key-value store, and does a member raise an alarm? Asked of its members now and then. Byte budgets shrink
// by the one (quotas/quotas.ts); the other is for the operator: under CORRUPT or NOSPACE reads go on as if nothing were.

import type { EngineStatus, KeyValueEngine } from '../ports/key-value.ts'

/** Whenever they are others than before; none: it is over. */
export type OnAlarms = (alarms: readonly string[]) => void

export interface StorePressure {
  /** 0 to 1, of the fullest member; 0 until one has answered. */
  readonly ratio: number
  measure(): Promise<void>
}

export function createStorePressure(
  engine: Pick<KeyValueEngine, 'status'>,
  quotaBytes: number,
  onAlarms: OnAlarms = () => {},
): StorePressure {
  let ratio = 0
  let told = ''
  const logAlarms = (members: readonly EngineStatus[]): void => {
    const raised = members.flatMap(({ alarms }) => alarms)
    const alarms = [...new Set(raised)].toSorted()
    if (alarms.join() !== told) onAlarms(alarms)
    told = alarms.join()
  }
  return {
    get ratio() {
      return ratio
    },
    async measure() {
      const members = await engine.status()
      // Nobody answered: that says nothing of how full they are.
      if (members.length === 0) return
      logAlarms(members)
      ratio = Math.max(0, ...members.map(({ dbSizeInUseBytes }) => dbSizeInUseBytes / quotaBytes))
    },
  }
}
