// Changes around machines that can create no container, for the test of the invariants.

import type { StoredPlacement } from '@holdfast/server/store/records'
import { asked, type Change, containers, event, first, passed, placed, quotaOf } from '../changes.fixture.ts'
import {
  anAssignment,
  aPlacement,
  N1,
  N2,
  OWN,
  OWNER,
  R2,
  R3,
  withMachine,
  written,
} from '../world.fixture.ts'

const second = anAssignment(R2, N2, { replica: 2 })
const LONG_MS = 46_000

const unable: Change = (world) => withMachine(world, N2, () => ({ notCreated: new Set([R2]) }))
const grown: readonly Change[] = [quotaOf(9), asked({ replicas: 2 }), unable, placed(first, second)]
const pinned: readonly Change[] = [
  quotaOf(9),
  asked({ replicas: 2, nodeId: N2 }),
  unable,
  placed(anAssignment(R2, N2)),
]

const avoiding =
  (until: string, assignments: StoredPlacement['assignments'] = [first]): Change =>
  (world) =>
    written(
      world,
      'placements',
      OWN,
      OWNER,
      aPlacement(assignments, { avoided: [{ nodeId: N2, until, cause: '' }] }),
    )
const TEN_MINUTES = '1970-01-01T00:10:00.000Z'

const displaced = event({
  type: 'deployment.displaced',
  reason: 'creation_failed',
  data: { nodeId: N2, until: TEN_MINUTES },
})

export const CREATION_TABLE: readonly (readonly [string, string, readonly Change[]])[] = [
  ['created-elsewhere', 'a replica that stays although another node accepts it', [...grown, passed(LONG_MS)]],
  ['creation-explained', 'a replica that stays without an explanation', [...pinned, passed(LONG_MS)]],
  [
    'creation-avoided',
    'a further replica within ten minutes',
    [asked({ replicas: 2 }), displaced, passed(60_000), placed(first, second)],
  ],
  ['creation-avoided', 'a node that was always able', [avoiding(TEN_MINUTES)]],
  [
    'one-replica',
    'two containers that run on',
    [containers(N2, R3), avoiding(TEN_MINUTES, [first, anAssignment(R3, N2)]), passed(1), passed(LONG_MS)],
  ],
]

/** A replica that stays for a moment, and one that is explained. */
export const MOVED: readonly Change[] = [
  ...grown,
  passed(LONG_MS / 2),
  placed(
    first,
    anAssignment(R2, N2, { replica: 2, desired: 'removed' }),
    anAssignment(R3, N1, { replica: 2 }),
  ),
  passed(LONG_MS),
]
