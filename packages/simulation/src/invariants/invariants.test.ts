// Each invariant is broken by the change that it forbids, and none is broken in a healthy cluster.

import type { TenantId } from '@holdfast/contract'
import { aDeployment } from '@holdfast/server/store/records.fixture'
import { describe, expect, test } from 'vitest'
import { CANARY_TABLE, PROMOTED } from './canaries/canary-changes.fixture.ts'
import {
  asked,
  away,
  brokenBy,
  type Change,
  containers,
  demands,
  event,
  first,
  node,
  other,
  otherSeen,
  passed,
  placed,
  quotaOf,
  second,
  seen,
  shunsItself,
  successor,
  waitsFor,
} from './changes.fixture.ts'
import { CREATION_TABLE, MOVED } from './creation/creation-changes.fixture.ts'
import { INVARIANTS } from './index.ts'
import { JOB_TABLE } from './jobs/job-changes.fixture.ts'
import { JOINED, NETWORK_TABLE } from './networks/network-changes.fixture.ts'
import { SCALING_TABLE } from './scaling/scaling-changes.fixture.ts'
import { VOLUME_TABLE } from './volumes/volume-changes.fixture.ts'
import {
  anAssignment,
  aPlacement,
  aStoredNode,
  FOREIGN,
  N1,
  N2,
  OTHER,
  OWN,
  OWNER,
  R1,
  R2,
  R3,
  withMachine,
  written,
} from './world.fixture.ts'

test('a healthy world breaks no invariant', () => expect(brokenBy([])).toEqual([]))

test('a second replica that is placed, created, observed and announced breaks no invariant', () => {
  const announced = event({ type: 'deployment.running' })
  const grown = [asked({ replicas: 2 }, { revision: 2 }), placed(first, second), containers(N2, R2)]
  const placedFor: Change = (world) =>
    written(world, 'placements', OWN, OWNER, aPlacement([first, second], { revision: 2 }))
  expect(brokenBy([...grown, seen({}, R2, N2), placedFor, announced])).toEqual([])
})

test('a canary that is promoted breaks no invariant', () => expect(brokenBy(PROMOTED)).toEqual([]))

test('a container that joins a network of its node breaks no invariant', () =>
  expect(brokenBy(JOINED)).toEqual([]))

test('a replica that leaves a machine that cannot create it breaks no invariant of creations', () => {
  const broken = brokenBy(MOVED)
  expect(CREATION_TABLE.map(([name]) => name).filter((name) => broken.includes(name))).toEqual([])
})

/** Places a second replica, with a template that has a health check. */
const checked: Change = (world) => {
  const healthCheck = { type: 'exec', command: ['true'], interval: '5s', startPeriod: '0s' }
  const template = {
    name: 'web',
    image: 'i',
    environment: {},
    labels: {},
    stopGracePeriod: '1s',
    healthCheck,
  }
  const placement = aPlacement([first, second], { templates: { hash: template } })
  return written(world, 'placements', OWN, OWNER, placement)
}

const TABLE: readonly (readonly [invariant: string, what: string, changes: readonly Change[]])[] = [
  ['tenant-boundary', 'an assignment to another tenant’s node', [placed(first, anAssignment(R2, FOREIGN))]],
  ['tenant-boundary', 'a container on another tenant’s machine', [containers(FOREIGN, R2)]],
  [
    'node-names',
    'two active claims',
    [
      (world) =>
        written(world, 'nodeNames', undefined, 'n1', {
          v: 1,
          claims: [OWN, OTHER].map((tenant) => ({ tenant, nodeId: N1, state: 'active' as const })),
        }),
    ],
  ],
  [
    'node-names',
    'a node without its name',
    [(world) => written(written(world, 'nodeNames', undefined, 'n2'), 'nodes', OWN, N2, aStoredNode(N2))],
  ],
  [
    'forward-only',
    'running after removed',
    [placed(anAssignment(R1, N1, { desired: 'removed' })), placed(first)],
  ],
  ['forward-only', 'another node', [placed(anAssignment(R1, N2))]],
  ['forward-only', 'an id that returns', [containers(N1), placed(), placed(first)]],
  ['confirmed-gone', 'dropped while its container runs', [placed()]],
  ['one-container', 'two containers', [containers(N1, R1, R1)]],
  ['one-container', 'a container elsewhere', [containers(N2, R1)]],
  ['no-more-than-desired', 'one more than replicas', [placed(first, second)]],
  ['no-more-than-desired', 'beside one that serves', [placed(first, successor)]],
  [
    'serves-until-replaced',
    'gone before its successor',
    [passed(60_000), placed(anAssignment(R1, N1, { desired: 'removed' }))],
  ],
  [
    'takes-work',
    'a cordoned node',
    [asked({ replicas: 2 }), node({ schedulable: false }), placed(first, second)],
  ],
  [
    'takes-work',
    'a silent node',
    [asked({ replicas: 2 }), node({ status: 'unreachable' }), placed(first, second)],
  ],
  [
    'takes-work',
    'a silent engine',
    [
      asked({ replicas: 2 }),
      node({
        health: { epoch: 1, faults: [{ reason: 'engine_silent', since: '2026-01-01T00:00:00.000Z' }] },
      }),
      placed(first, second),
    ],
  ],
  [
    'takes-work',
    'the control plane’s',
    [asked({ replicas: 2 }), node({ controlPlane: true }), placed(first, second)],
  ],
  [
    'takes-work',
    'an agent without a needed capability',
    [asked({ replicas: 2 }), node({ agent: { version: '1', capabilities: ['limits'] } }), checked],
  ],
  ['takes-work', 'another than the named', [asked({ replicas: 2, nodeId: N1 }), placed(first, second)]],
  [
    'takes-work',
    'other labels',
    [
      asked({ replicas: 2, placement: { constraints: [{ label: 'zone', operator: 'in', values: ['b'] }] } }),
      placed(first, second),
    ],
  ],
  [
    'takes-work',
    'another replica beside one that the control plane’s node keeps',
    [
      asked({ replicas: 2 }),
      node({ controlPlane: true }, N1),
      placed(first, anAssignment(R2, N1, { replica: 2 })),
    ],
  ],
  ['waits-for-others', 'placed before the other exists', [waitsFor('started'), placed(first, second)]],
  [
    'waits-for-others',
    'placed while the other is not ready',
    [other, waitsFor('healthy'), otherSeen('running'), placed(first, second)],
  ],
  [
    'waits-for-others',
    'placed long after the other was ready',
    [
      ...[other, waitsFor('healthy'), otherSeen('ready'), otherSeen('failed'), passed(60_000)],
      placed(first, second),
    ],
  ],
  [
    'waits-for-others',
    'placed on what a lost node had',
    [...[other, node({ status: 'failed' }), waitsFor('started'), otherSeen('ready')], placed(first, second)],
  ],
  ['residency', 'another country', [demands({ country: 'FR' }), placed(first, second)]],
  ['residency', 'another region', [demands({ region: 'us' }), placed(first, second)]],
  ['residency', 'a blocked country', [demands({ blockedCountries: ['DE'] }), placed(first, second)]],
  [
    'residency',
    'a country that is not proved',
    [demands({ country: 'DE' }), node({ attested: { country: 'FR' } }), placed(first, second)],
  ],
  ['residency-settled', 'it stays where it may not be', [demands({ country: 'FR' })]],
  [
    'anti-affinity',
    'two of its own at once',
    [asked(shunsItself), placed(first, successor, anAssignment(R3, N2, { replica: 2 }))],
  ],
  [
    'anti-affinity',
    'beside itself',
    [asked(shunsItself), placed(first, anAssignment(R2, N1, { replica: 2 }))],
  ],
  [
    'fits-node',
    'more than is free',
    [
      asked({ replicas: 2, resources: { cpuMillis: 600, memoryBytes: 0 } }),
      passed(60_000),
      placed(first, anAssignment(R2, N1, { replica: 2 })),
    ],
  ],
  [
    'container-quota',
    'one above',
    [asked({ replicas: 3 }), placed(first, second, anAssignment(R3, N2, { replica: 3 }))],
  ],
  [
    'slots-in-limits',
    'a record without a slot',
    [(world) => written(world, 'deployments', OWN, 'db', aDeployment('db', { slot: 1 }))],
  ],
  [
    'acknowledged',
    'an answer for nothing',
    [
      (world) => ({
        ...world,
        acknowledged: [{ at: 0, tenant: OWN, action: 'apply', name: 'web', revision: 7 }],
      }),
    ],
  ],
  ['acknowledged', 'a revision that falls', [asked({}, { revision: 3 }), asked({}, { revision: 2 })]],
  ['acknowledged', 'gone undeleted', [(world) => written(world, 'deployments', OWN, 'web')]],
  ['acknowledged', 'two specs of one revision', [asked({}, { specHash: 'another' })]],
  ['observations', 'an older report', [seen({ seq: 5, state: 'running' }), seen({ seq: 4 })]],
  [
    'observations',
    'of an older desired state',
    [seen({ generation: 2, seq: 5 }), seen({ generation: 1, seq: 6 })],
  ],
  ['observations', 'by another node', [seen({ seq: 2 }, R1, N2)]],
  ['observations', 'gone unasked', [seen({ seq: 2, gone: true })]],
  [
    'ready-is-true',
    'ready without a running container',
    [asked({ replicas: 2 }), placed(first, second), seen({}, R2, N2)],
  ],
  ['ready-is-true', 'running with too few', [asked({ replicas: 2 }), event({ type: 'deployment.running' })]],
  [
    'sessions',
    'another session, no epoch more',
    [node({ session: { replica: 'srv_b', epoch: 1, bootId: 'boot' } })],
  ],
  ['sessions', 'an epoch that falls', [node({ session: { replica: 'srv_a', epoch: 0, bootId: 'boot' } })]],
  ['sessions', 'a label that is not proved', [node({ labels: { 'holdfast.io/country': 'FR' } })]],
  [
    'one-owner',
    'a placement for a dead owner',
    [
      (world) => ({
        ...world,
        servers: world.servers.map((each) => ({ ...each, alive: each.name !== 'a' })),
      }),
      passed(20_000),
      placed(first),
    ],
  ],
  [
    'one-owner',
    'two that hold it',
    [
      (world) => ({ ...world, servers: world.servers.map((each) => ({ ...each, holds: [OWN] })) }),
      passed(70_000),
    ],
  ],
  ['given-up-late', 'unreachable at once', [away, passed(5_000), node({ status: 'unreachable' })]],
  ['given-up-late', 'failed after a minute', [away, passed(60_000), node({ status: 'failed' })]],
  [
    'silence-explained',
    'a node of the control plane that fails without an event',
    [node({ controlPlane: true, status: 'failed' })],
  ],
  ['events-stand', 'an event that is gone', [event({}), (world) => written(world, 'events', OWN, 'evt_1')]],
  ['events-stand', 'an event that says something else', [event({}), event({ message: 'Two nodes.' })]],
  ['events-stand', 'an event at another time', [event({}), event({ time: '2026-01-01T00:00:09.000Z' })]],
  ['events-stand', 'a stable refusal, twice', [event({}), event({}, 'evt_2')]],
  ['no-storm', 'a record that is written without end', Array.from({ length: 101 }, () => placed(first))],
  ['settled', 'a container without an assignment', [containers(N2, R2)]],
  ['settled', 'too few, with a place', [asked({ replicas: 2 })]],
  ['settled', 'seen otherwise', [seen({ seq: 2, state: 'running' })]],
  [
    'settled',
    'deleted and not gone',
    [(world) => written(world, 'deployments', OWN, 'db', aDeployment('db', { deleting: true }))],
  ],
  ...VOLUME_TABLE,
  ...JOB_TABLE,
  ...SCALING_TABLE,
  ...CANARY_TABLE,
  ...NETWORK_TABLE,
  ...CREATION_TABLE,
]

const FAILED = { type: 'node.failed', subject: { kind: 'Node', name: 'n2', uid: N2 } } as const

describe('is broken by', () => {
  test.each(TABLE)('%s: %s', (invariant, _what, changes) => expect(brokenBy(changes)).toContain(invariant))
})

test('every invariant is broken by some change of this table', () => {
  const tried = new Set(TABLE.map(([name]) => name))
  expect(INVARIANTS.map(({ name }) => name).filter((name) => !tried.has(name))).toEqual([])
})

describe('is not broken by', () => {
  test.each<[string, readonly Change[]]>([
    [
      'a successor beside one of another template',
      [placed(first, anAssignment(R2, N2, { templateHash: 'new' }))],
    ],
    [
      'the end of what a ready successor replaces',
      [
        placed(first, anAssignment(R2, N2, { templateHash: 'new' })),
        containers(N2, R2),
        seen({}, R2, N2),
        placed(anAssignment(R1, N1, { desired: 'removed' }), anAssignment(R2, N2, { templateHash: 'new' })),
      ],
    ],
    [
      'a replica recreated where the control plane’s node keeps it',
      [node({ controlPlane: true }, N1), placed(first, anAssignment(R2, N1, { templateHash: 'new' }))],
    ],
    [
      'a node that is failed in time, with its event',
      [...[away, passed(130_000)], (world) => event(FAILED)(node({ status: 'failed' })(world))],
    ],
    [
      'the first report of a new session',
      [
        node({ session: { replica: 'srv_b', epoch: 2, bootId: 'boot' } }, N1),
        seen({ seq: 1, state: 'running' }),
      ],
    ],
  ])('%s', (_what, changes) => {
    const atEnd = new Set(INVARIANTS.filter((each) => each.atEnd === true).map(({ name }) => name))
    expect(brokenBy(changes).filter((name) => !atEnd.has(name))).toEqual([])
  })

  test('a replica placed before the controller has seen that its dependency became unhealthy', () => {
    const ready = [other, waitsFor('healthy'), otherSeen('ready')]
    expect(brokenBy([...ready, otherSeen('failed'), placed(first, second)])).not.toContain('waits-for-others')
  })

  test('a quota that was lowered a moment ago', () => {
    const lowered = quotaOf(1)
    const quota = (changes: readonly Change[]) => brokenBy(changes).includes('container-quota')
    expect(quota([asked({ replicas: 2 }), lowered, placed(first, second)])).toBe(false)
    expect(quota([asked({ replicas: 2 }), lowered, passed(60_000), placed(first, second)])).toBe(true)
  })
})

test('at the end a replica that waits for its dependency is unplaced, and is placed once that is ready', () => {
  const announced = aPlacement([first], {
    shortfall: { reason: 'dependency_unhealthy', summary: '' },
    revision: 2,
  })
  const waiting: readonly Change[] = [
    ...[quotaOf(9), other, containers(N2, R3)],
    asked({ replicas: 2, dependsOn: { db: 'healthy' } }, { revision: 2 }),
    (world) => written(world, 'placements', OWN, OWNER, announced),
  ]
  const isRunning: Change = (world) =>
    withMachine(world, N2, ({ containers: all }) => ({
      containers: all.map((each) => ({ ...each, state: 'running' })),
    }))
  expect(brokenBy([...waiting, otherSeen('running'), isRunning])).not.toContain('settled')
  expect(brokenBy([...waiting, otherSeen('ready')])).toContain('settled')
})

test('the end is not checked if a machine never learned of its enrollment', () => {
  expect(brokenBy([node({ generation: 2, status: 'pending' })])).not.toContain('settled')
})

test('the end is not checked while a machine is still away', () => {
  const tenant: TenantId = OWN
  expect(
    brokenBy([
      away,
      (world) => written(world, 'deployments', tenant, 'db', aDeployment('db', { deleting: true, slot: 0 })),
    ]),
  ).not.toContain('settled')
})
