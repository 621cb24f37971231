// The order of test files. Vitest starts with the largest file; a long file that starts last keeps one core alone, so the
// files of this list start first. The ledger of a CI run names the slowest files.

import { join } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

export const LONGEST: readonly string[] = [
  'e2e/promotion.test.ts',
  'e2e/traffic.test.ts',
  'e2e/day.test.ts',
  'e2e/machines.test.ts',
  'e2e/scaling.test.ts',
  'e2e/secrets.test.ts',
  'e2e/two-builds.test.ts',
  'packages/agent/src/agent-faults.real.test.ts',
  'packages/agent/src/agent.real.test.ts',
  'packages/simulation/src/promotion/search.test.ts',
  'packages/simulation/src/seeds/seeds.test.ts',
]

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return longestFirst(this.ctx.config.root, await super.sort(files))
  }
}

/** Moves the listed files to the front of their project; all others keep their order. */
export function longestFirst<T extends Pick<TestSpecification, 'moduleId'> & { readonly project: object }>(
  root: string,
  files: readonly T[],
): T[] {
  const projects = [...new Set(files.map(({ project }) => project))]
  const paths = LONGEST.map((file) => join(root, file))
  const rank = ({ moduleId }: T): number =>
    paths.includes(moduleId) ? paths.indexOf(moduleId) : paths.length
  return files.toSorted(
    (a, b) => projects.indexOf(a.project) - projects.indexOf(b.project) || rank(a) - rank(b),
  )
}
