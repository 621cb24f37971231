// Measures how full etcd is and collects the alarms of its members. Byte quotas shrink as etcd fills
// (quotas/quotas.ts). Under the alarms CORRUPT and NOSPACE reads still succeed, so only these alarms inform the operator.

import type { EngineStatus, KeyValueEngine } from '../ports/key-value.ts'

/** Called when the set of raised alarms changes; an empty list means that no alarm is raised. */
export type OnAlarms = (alarms: readonly string[]) => void

export interface StorePressure {
  /** How full the fullest member of the store is, from 0 to 1; 0 until a member has answered. */
  readonly ratio: number
  /** The alarms that members raised when they were last measured; undefined until a member has answered. */
  readonly alarms: readonly string[] | undefined
  measure(): Promise<void>
}

export function createStorePressure(
  engine: Pick<KeyValueEngine, 'status'>,
  quotaBytes: number,
  onAlarms: OnAlarms = () => {},
): StorePressure {
  let ratio = 0
  let reported = ''
  let known: readonly string[] | undefined
  const logAlarms = (members: readonly EngineStatus[]): void => {
    const raised = members.flatMap(({ alarms }) => alarms)
    const alarms = [...new Set(raised)].toSorted()
    known = alarms
    if (alarms.join() !== reported) onAlarms(alarms)
    reported = alarms.join()
  }
  return {
    get ratio() {
      return ratio
    },
    get alarms() {
      return known
    },
    async measure() {
      const members = await engine.status()
      // If no member answered, the last measurement stays valid.
      if (members.length === 0) return
      logAlarms(members)
      ratio = Math.max(0, ...members.map(({ dbSizeInUseBytes }) => dbSizeInUseBytes / quotaBytes))
    },
  }
}
