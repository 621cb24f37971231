// Measures how full the key-value store is and collects the alarms of its members. Byte quotas shrink as it fills
// (quotas/quotas.ts). Alarms are for the operator: under CORRUPT or NOSPACE reads still succeed, so nothing else shows them.

import type { EngineStatus, KeyValueEngine } from '../ports/key-value.ts'

/** Called when the set of alarms changes; an empty list means that all are cleared. */
export type OnAlarms = (alarms: readonly string[]) => void

export interface StorePressure {
  /** From 0 to 1, of the fullest member; 0 until a member has answered. */
  readonly ratio: number
  measure(): Promise<void>
}

export function createStorePressure(
  engine: Pick<KeyValueEngine, 'status'>,
  quotaBytes: number,
  onAlarms: OnAlarms = () => {},
): StorePressure {
  let ratio = 0
  let reported = ''
  const logAlarms = (members: readonly EngineStatus[]): void => {
    const raised = members.flatMap(({ alarms }) => alarms)
    const alarms = [...new Set(raised)].toSorted()
    if (alarms.join() !== reported) onAlarms(alarms)
    reported = alarms.join()
  }
  return {
    get ratio() {
      return ratio
    },
    async measure() {
      const members = await engine.status()
      // No member answered, so the last measurement is kept.
      if (members.length === 0) return
      logAlarms(members)
      ratio = Math.max(0, ...members.map(({ dbSizeInUseBytes }) => dbSizeInUseBytes / quotaBytes))
    },
  }
}
