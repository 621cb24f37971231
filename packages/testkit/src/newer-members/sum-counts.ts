// The counts of several runs together, and whether the runs changed each kind of record that they had to change.

import { shards } from '@holdfast/server/store/records'
import type { Counts } from './member-ledger.ts'
import { RECORD_CHANGES } from './record-changes.ts'

export interface CountSum {
  add(counts: ReadonlyMap<string, Counts>): void
  /** Number of changes of records with unknown members; without those of shards, which are many and alike. */
  changes(): number
  /** Kinds of records that the runs of `by` must change and did not. */
  untouched(by: 'simulation' | 'platform'): string[]
  text(): string
}

export function createCountSum(): CountSum {
  const sums = new Map<string, Counts>()
  const changes = (): number =>
    [...sums].reduce((sum, [folder, each]) => sum + (folder === shards.folder ? 0 : each.changes), 0)
  return {
    changes,
    add(counts) {
      for (const [folder, { marked, changes, members }] of counts) {
        const sum = sums.get(folder) ?? { marked: 0, changes: 0, members: 0 }
        sums.set(folder, {
          marked: sum.marked + marked,
          changes: sum.changes + changes,
          members: sum.members + members,
        })
      }
    },
    untouched: (by) =>
      Object.entries(RECORD_CHANGES).flatMap(([folder, change]) =>
        change.kind === 'changed' && change.by === by && !sums.get(folder)?.changes ? [folder] : [],
      ),
    text: () =>
      [...sums]
        .filter(([, { marked }]) => marked > 0)
        .map(([folder, each]) => `${folder} ${each.marked}/${each.changes}/${each.members}`)
        .join(', '),
  }
}
