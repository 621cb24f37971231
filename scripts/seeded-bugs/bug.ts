// A seeded bug: the edits that remove a guard from the product, and the invariants that should break.

import type { Edit } from '@holdfast/testkit/builds/copy-packages'

export interface Bug {
  readonly name: string
  readonly edits: readonly Edit[]
  readonly seenBy: readonly string[]
  /** The only scripts that can find the bug; absent if any script can. */
  readonly scripts?: ScriptKind
}

/** Scripts with jobs, policies or the like; those of failures, of cut stores and of failing creations are numbered apart. */
export type ScriptKind =
  | 'volumes'
  | 'jobs'
  | 'many jobs'
  | 'scaling'
  | 'canaries'
  | 'networks'
  | 'failures'
  | 'store cuts'
  | 'creations'

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
