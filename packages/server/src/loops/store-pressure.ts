// How full is the key-value store? Asked of its members now and then; byte budgets shrink by it (operations/quotas.ts).

import type { KeyValueEngine } from '../ports/key-value.ts'

export interface StorePressure {
  /** 0 to 1, of the fullest member; 0 until one has answered. */
  readonly ratio: number
  measure(): Promise<void>
}

export function createStorePressure(
  engine: Pick<KeyValueEngine, 'status'>,
  quotaBytes: number,
): StorePressure {
  let ratio = 0
  return {
    get ratio() {
      return ratio
    },
    async measure() {
      const members = await engine.status()
      ratio = Math.max(0, ...members.map(({ dbSizeInUseBytes }) => dbSizeInUseBytes / quotaBytes))
    },
  }
}
