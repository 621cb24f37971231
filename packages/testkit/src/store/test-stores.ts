// Several stores for one test on one key root, like those of several servers. All stores end with the test, in reverse
// order.

import type { Store } from '@holdfast/server/store/store'
import { uniqueName } from '@holdfast/testkit'
import { openTestStore, type TestStoreOptions } from './open-test-store.ts'

export interface TestStores {
  /** Functions that run at the end of the test. A test may add functions, and remove those that have already run. */
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
