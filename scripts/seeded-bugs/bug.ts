// A seeded bug: the edits that remove a guard from the product, and the invariants that should break.

import type { Edit } from '@holdfast/testkit/builds/copy-packages'

export interface Bug {
  readonly name: string
  readonly edits: readonly Edit[]
  readonly seenBy: readonly string[]
  /** Whether only seeds with volumes can find the bug. */
  readonly inVolumes?: boolean
  /** Whether only seeds with jobs can find the bug. */
  readonly inJobs?: boolean
  /** Whether only the scripts with many jobs can find the bug. */
  readonly inManyJobs?: boolean
  /** Whether only seeds with scaling policies can find the bug. */
  readonly inScaling?: boolean
  /** Whether only seeds with canaries can find the bug. */
  readonly inCanaries?: boolean
  /** Whether only seeds with networks can find the bug. */
  readonly inNetworks?: boolean
  /** Whether only the scripts of failures can find the bug. */
  readonly inFailures?: boolean
  /** Whether only the scripts of servers that lose the store for minutes can find the bug. */
  readonly inStoreCuts?: boolean
  /** Whether only the scripts of machines that cannot create containers can find the bug. */
  readonly inCreations?: boolean
}

export const core = (file: string, find: string, replace: string): Edit => ({
  file: `packages/core/src/${file}`,
  find,
  replace,
})
export const server = (file: string, find: string, replace: string): Edit => ({
  file: `packages/server/src/${file}`,
  find,
  replace,
})
