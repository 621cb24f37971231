// The conformance suite that every key-value engine passes: real etcd and the in-memory store. ports/key-value.ts has the
// rules, this suite has examples. Timing, connections and credentials belong to each engine's own tests.

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

/** Runs the conformance suite. `makeEngine` must return a separate store, because the suite compacts the store. */
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
