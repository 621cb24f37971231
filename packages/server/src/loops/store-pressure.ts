// Measures how full etcd is and collects the alarms of its members. Byte quotas shrink as etcd fills
// (quotas/quotas.ts). etcd raises NOSPACE on the size of a member's file, which only a defragmentation shrinks, so the file
// is what is measured, and not the bytes in use. Under the alarms CORRUPT and NOSPACE reads still succeed.

import type { EngineStatus, KeyValueEngine } from '../ports/key-value.ts'

/** Called when the set of raised alarms changes; an empty list means that no alarm is raised. */
export type OnAlarms = (alarms: readonly string[]) => void

/** The sizes of the member with the largest file. */
export interface StoreSize {
  readonly fileBytes: number
  /** Bytes of the file that hold data. The rest is reused by later writes, or released by a defragmentation. */
  readonly inUseBytes: number
}

export interface StorePressure {
  /** How full the fullest member of the store is, from 0 to 1; 0 until a member has answered. */
  readonly ratio: number
  /** Undefined until a member has answered. */
  readonly size: StoreSize | undefined
  readonly quotaBytes: number
  /** The alarms that members raised when they were last measured; undefined until a member has answered. */
  readonly alarms: readonly string[] | undefined
  measure(): Promise<void>
}

export function createStorePressure(
  engine: Pick<KeyValueEngine, 'status'>,
  quotaBytes: number,
  onAlarms: OnAlarms = () => {},
): StorePressure {
  let size: StoreSize | undefined
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
    quotaBytes,
    get size() {
      return size
    },
    get ratio() {
      return (size?.fileBytes ?? 0) / quotaBytes
    },
    get alarms() {
      return known
    },
    async measure() {
      const members = await engine.status()
      // If no member answered, the last measurement stays valid.
      if (members.length === 0) return
      logAlarms(members)
      const [largest] = members.toSorted((left, right) => right.dbSizeBytes - left.dbSizeBytes)
      if (largest !== undefined)
        size = { fileBytes: largest.dbSizeBytes, inUseBytes: largest.dbSizeInUseBytes }
    },
  }
}
