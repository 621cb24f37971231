// What every engine of the store must do, held against real etcd and against its twin alike. The port's words are in
// ports/key-value.ts; here they are examples. Timing, connections and credentials are each engine's own tests.

import type { KeyValueEngine } from '@holdfast/server/ports/key-value'
import { afterAll, beforeAll, describe } from 'vitest'
import { describeRanges } from './ranges.ts'
import { describeRefusals } from './refusals.ts'
import { describeTransactions } from './transactions.ts'
import { describeWatches } from './watches.ts'

export interface EngineUnderTest {
  readonly engine: KeyValueEngine
  stop(): Promise<void>
}

/** A store of its own: the suite compacts it. */
export function describeEngine(name: string, makeEngine: () => Promise<EngineUnderTest>): void {
  describe(`the engine ${name}`, () => {
    let underTest: EngineUnderTest | undefined
    beforeAll(async () => {
      underTest = await makeEngine()
    })
    afterAll(async () => {
      underTest?.engine.close()
      await underTest?.stop()
    })
    const engine = (): KeyValueEngine => {
      if (!underTest) throw new Error('the engine did not start')
      return underTest.engine
    }
    describeRanges(engine)
    describeTransactions(engine)
    describeRefusals(engine)
    describeWatches(engine)
  })
}
