// Which seeded bugs does a run of CI try? Those whose code has changed since the last green run, and some in turn.

import { isInTurn } from '@holdfast/testkit/rotation'
import type { Bug } from './bug.ts'

export interface Chosen<B> {
  readonly bugs: readonly B[]
  /** The number of chosen bugs of which code has changed. */
  readonly changed: number
}

/** Chooses by the files that a bug edits. */
export function chooseBugs<B extends Pick<Bug, 'edits'>>(
  bugs: readonly B[],
  isChanged: (file: string) => boolean,
  isTaken = (item: number): boolean => isInTurn('seeded-bugs', item),
): Chosen<B> {
  const changed = new Set(bugs.filter(({ edits }) => edits.some(({ file }) => isChanged(file))))
  return { bugs: bugs.filter((bug, at) => changed.has(bug) || isTaken(at)), changed: changed.size }
}
