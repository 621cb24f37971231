// A seeded bug that no simulation can see: the edits that remove a guard from the product, and the unit test that fails.

import type { Edit } from '@holdfast/testkit/builds/copy-packages'

export interface TestedBug {
  readonly name: string
  readonly edits: readonly Edit[]
  readonly caughtBy: {
    readonly file: string
    /** The name of the test without those of its groups. */
    readonly test: string
  }
}

export const agent = (file: string, find: string, replace: string): Edit => ({
  file: `packages/agent/src/${file}`,
  find,
  replace,
})
