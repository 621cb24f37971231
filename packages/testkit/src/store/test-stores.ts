// Several stores of one test on one part of the engine, as several servers have them; all of it ends with the test, the last
// that was begun first.

import type { Store } from '@holdfast/server/store/store'
import { uniqueName } from '@holdfast/testkit'
import { openTestStore, type TestStoreOptions } from './open-test-store.ts'

export interface TestStores {
  /** What is to be ended; a test may add to it, and take away what has ended by itself. */
  readonly ends: (() => Promise<void> | void)[]
  open(options?: Partial<TestStoreOptions>): Promise<Store>
  close(): Promise<void>
}

export function createTestStores(name: string): TestStores {
  const root = `/${uniqueName(name)}`
  const ends: TestStores['ends'] = []
  return {
    ends,
    async open(options = {}) {
      const opened = await openTestStore({ root, ...options })
      ends.push(opened.close)
      return opened.store
    },
    async close() {
      for (const end of ends.toReversed()) await end()
    },
  }
}
