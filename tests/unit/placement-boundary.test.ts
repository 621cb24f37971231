// The functions of core that choose and filter nodes and find remedies are imported only by the caller of planPlacement.

import { join } from 'node:path'
import { checkPlacementEntries } from '@holdfast/testkit/source-tree/check-placement-entries'
import { gatherSources, showViolation } from '@holdfast/testkit/source-tree/source-tree'
import { describe, expect, test } from 'vitest'

test('only the caller of planPlacement imports the placement decision', () => {
  const sources = gatherSources(join(import.meta.dirname, '../..'))
  expect(checkPlacementEntries(sources).map(showViolation)).toEqual([])
})

const violations = (path: string, source: string) =>
  checkPlacementEntries(
    new Map([
      [path, source],
      ['packages/core/src/placement/index.ts', ''],
      ['packages/core/src/scheduling/index.ts', ''],
    ]),
  )

describe('a forbidden import of the placement decision is found', () => {
  test.each([
    ['packages/server/src/operations/a.ts', `import { planPlacement } from '@holdfast/core/placement'`],
    ['packages/server/src/loops/a.ts', `import { planPlacement } from '@holdfast/core/placement'`],
    ['packages/server/src/loops/controllers/queue/a.ts', `import { x } from '@holdfast/core/placement'`],
    ['packages/server/src/api/a.ts', `import { x } from '@holdfast/core/placement/explain-placement'`],
    ['packages/simulation/src/a.ts', `import { x } from '@holdfast/core/scheduling/pick-node'`],
    ['packages/server/src/a.ts', `import { x } from '@holdfast/core/scheduling/filters/quota'`],
    ['packages/server/src/a.ts', `import { x } from '@holdfast/core/scheduling/index'`],
    ['packages/server/src/a.ts', `import { x } from '../../core/src/scheduling/remedies/find-remedies.ts'`],
    [
      'packages/server/src/loops/controllers/placement/a.ts',
      `import { x } from '@holdfast/core/rollout/plan-rollout'`,
    ],
    ['packages/core/src/index.ts', `export * from './scheduling/index.ts'`],
    ['packages/core/src/index.ts', `export { planRollout } from './rollout/plan-rollout.ts'`],
    ['packages/core/src/index.ts', `export { explainCandidates } from './scheduling/explain.ts'`],
  ])('%s: %s', (path, source) => expect(violations(path, source)).toHaveLength(1))
})

describe('the entry points of placement may be imported', () => {
  test.each([
    ['packages/server/src/loops/controllers/placement/a.ts', `import { x } from '@holdfast/core/placement'`],
    ['packages/server/src/loops/controllers/planning/a.ts', `import { x } from '@holdfast/core/placement'`],
    [
      'packages/server/src/operations/deployments/a.ts',
      `import { x } from '@holdfast/core/placement/explain-placement'`,
    ],
    ['packages/server/src/a.ts', `import { deriveStatus } from '@holdfast/core'`],
    ['packages/server/src/a.test.ts', `import { x } from '@holdfast/core/scheduling/pick-node'`],
    ['packages/core/src/placement/a.ts', `import { x } from '../scheduling/pick-node.ts'`],
  ])('%s: %s', (path, source) => expect(violations(path, source)).toEqual([]))
})
