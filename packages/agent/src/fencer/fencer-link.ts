// The agent's side of the fencer: registers groups and renews their deadlines, and reads whether a living fencer guards them.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type FencedGroup, type FencerReport, isGuarded } from '@holdfast/core/promotion/fencer-groups'
import { writeDurably } from '../state/durable-file.ts'
import { bootTime } from './boot-clock.ts'
import { decodeDeadlines, decodeReport, encodeDeadlines } from './fencer-files.ts'

export interface FencerLink {
  /**
   * Replaces the deadlines of all groups. A group is omitted only after the fencer has reported it as one that needs no
   * promise; until then the fencer would keep its earlier deadline.
   */
  renew(groups: readonly FencedGroup[]): Promise<void>
  /** The groups of the file if it is of this boot, as an agent before this one left it. */
  deadlines(): Promise<readonly FencedGroup[]>
  /** The newest report of the fencer; undefined if there is none. */
  report(): Promise<FencerReport | undefined>
  /** Whether a living fencer guards the group: only then may a writer with promises be started. */
  guards(name: string): Promise<boolean>
}

/** `folder`: the folder of both files, in memory, so that the fencer never waits for a disk. */
export function createFencerLink(folder: string): FencerLink {
  const report = async (): Promise<FencerReport | undefined> => {
    try {
      return decodeReport(await readFile(join(folder, 'report.json'), 'utf8'))
    } catch {
      return undefined
    }
  }
  let written = Promise.resolve()
  const write = (groups: readonly FencedGroup[]): Promise<void> =>
    writeDurably(join(folder, 'deadlines.json'), encodeDeadlines({ boot: bootTime().boot, groups }))
  return {
    // One after the other: two writes at the same time would use the same temporary file.
    renew(groups) {
      const next = written.then(() => write(groups))
      written = next.catch(() => {})
      return next
    },
    async deadlines() {
      try {
        const { boot, groups } = decodeDeadlines(await readFile(join(folder, 'deadlines.json'), 'utf8'))
        return boot === bootTime().boot ? groups : []
      } catch {
        return []
      }
    },
    report,
    guards: async (name) => isGuarded(await report(), name, bootTime()),
  }
}
