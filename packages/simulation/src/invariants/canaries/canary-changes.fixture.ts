// Changes of canaries for the test of the invariants, each with the invariant that it breaks.

import type { StoredDeployment } from '@holdfast/server/store/records'
import { asked, type Change, containers, event, first, passed, placed, seen } from '../changes.fixture.ts'
import {
  anAssignment,
  aPlacement,
  N1,
  N2,
  OWN,
  OWNER,
  R1,
  R2,
  R3,
  withMachine,
  written,
} from '../world.fixture.ts'

type Canary = NonNullable<StoredDeployment['canary']>

const TIME = '1970-01-01T00:00:00.000Z'
const atMs = (ms: number): string => new Date(ms).toISOString()

const canaryIn = (phase: Canary['phase'], changes: Partial<Canary> = {}): Canary => ({
  ...{ phase, reason: '', since: TIME, startedAt: TIME, replicas: 1, weight: 10, observe: '10s' },
  ...{ failures: [], digest: null, change: { environment: { MARK: '1' } } },
  ...changes,
})

/** The deployment with a canary in the phase. */
const has = (phase: Canary['phase'], changes: Partial<Canary> = {}, spec: object = {}): Change =>
  asked(spec, { canary: canaryIn(phase, changes) })

const marked = anAssignment(R2, N2, { templateHash: 'other', canary: true })
const started = [has('progressing'), placed(first, marked), containers(N2, R2), seen({}, R2, N2)]

const adopted = anAssignment(R2, N2, { templateHash: 'other', revision: 2 })

/** The placement of the revision that the promotion stored. */
const placedAs =
  (...assignments: ReturnType<typeof anAssignment>[]): Change =>
  (world) =>
    written(world, 'placements', OWN, OWNER, aPlacement(assignments, { revision: 2 }))

const recreated: Change = (world) =>
  withMachine(world, N2, ({ containers: all }) => ({
    containers: all.map((each) => ({ ...each, id: `${each.id} again` })),
  }))

export const CANARY_TABLE: readonly (readonly [string, string, readonly Change[]])[] = [
  [
    'canary-beside',
    'a replica of the deployment leaves for its canary',
    [...started, placed({ ...first, desired: 'removed' }, marked)],
  ],
  ['canary-count', 'a replica without a canary', [placed(first, marked)]],
  ['canary-count', 'a replica of a canary that is over', [has('aborted'), placed(first, marked)]],
  [
    'canary-count',
    'one more than the canary has',
    [
      ...started,
      placed(first, marked, anAssignment(R3, N2, { templateHash: 'other', replica: 2, canary: true })),
    ],
  ],
  [
    'canary-count',
    'the template of the deployment',
    [has('progressing'), placed(first, { ...marked, templateHash: first.templateHash })],
  ],
  [
    'no-more-than-desired',
    'two replicas of a canary with one number',
    [...started, placed(first, marked, anAssignment(R3, N1, { templateHash: 'other', canary: true }))],
  ],
  ['canary-promotion', 'not adopted', [...started, asked({}, { revision: 2 }), placedAs(first, marked)]],
  [
    'canary-promotion',
    'removed instead of adopted',
    [...started, asked({}, { revision: 2 }), placedAs(first, { ...marked, desired: 'removed' })],
  ],
  ['canary-promotion', 'adopted without a promotion', [...started, has('aborted'), placed(first, adopted)]],
  [
    'canary-promotion',
    'adopted with another container',
    [...started, asked({}, { revision: 2 }), placedAs(first, adopted), recreated],
  ],
  ['forward-only', 'a replica that becomes one of a canary', [placed({ ...first, canary: true })]],
  ['forward-only', 'another revision without a promotion', [placed({ ...first, revision: 2 })]],
  [
    'canary-phases',
    'back from ready',
    [has('observing'), has('ready', { since: atMs(10_000) }), has('progressing')],
  ],
  ['canary-phases', 'ready too early', [has('observing'), has('ready', { since: atMs(9_000) })]],
  ['canary-phases', 'on after its end', [has('progressing'), has('aborted'), has('progressing')]],
  [
    'canary-phases',
    'another canary beside it',
    [has('progressing'), has('progressing', { startedAt: atMs(5_000) })],
  ],
  [
    'canary-phases',
    'another revision',
    [has('ready'), asked({}, { revision: 2, canary: canaryIn('ready') })],
  ],
  ['canary-settled', 'a replica is left', [...started, has('aborted')]],
  ['canary-settled', 'serves and is progressing', started],
  ['canary-settled', 'observed too long', [...started, has('observing'), passed(90_000)]],
  ['canary-settled', 'no end after the deadline', [has('progressing'), passed(700_000)]],
  [
    'canary-settled',
    'an exit without an end',
    [...started, has('ready'), seen({ restarts: 1, seq: 2 }, R2, N2)],
  ],
  ['canary-settled', 'no event of its start', [has('ready')]],
  [
    'canary-settled',
    'two events of its end',
    [
      event({ type: 'deployment.canary_started' }),
      event({ type: 'deployment.canary_aborted' }, 'evt_2'),
      event({ type: 'deployment.canary_aborted' }, 'evt_3'),
    ],
  ],
  [
    'fits-node',
    'more than is free, by the request of the canary',
    [
      has('progressing', { change: { resources: { cpuMillis: 600, memoryBytes: 0 } }, replicas: 2 }),
      passed(60_000),
      placed(
        first,
        anAssignment(R2, N1, { templateHash: 'other', canary: true }),
        anAssignment(R3, N1, { templateHash: 'other', replica: 2, canary: true }),
      ),
    ],
  ],
]

/** The whole life of a canary that is promoted: it starts, serves, is observed, and its replica is adopted. */
export const PROMOTED: readonly Change[] = [
  ...started,
  event({ type: 'deployment.canary_started' }),
  has('observing'),
  has('ready', { since: atMs(10_000) }),
  asked({}, { revision: 2 }),
  event({ type: 'deployment.canary_promoted' }, 'evt_2'),
  placedAs(first, adopted),
  placedAs({ ...first, desired: 'removed' }, adopted),
  containers(N1),
  seen({ seq: 2, gone: true, state: 'stopping' }, R1, N1),
  placedAs(adopted),
]
