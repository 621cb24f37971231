import { expect, test } from 'vitest'
import { DEFAULT_LIMITS } from '../../limits.ts'
import { aBody, aRecord, forCreate, summary } from '../admission.fixture.ts'
import { checkBody } from '../admit-body.ts'
import { normalise } from '../normalize/normalise.ts'
import { checkFacts } from './check-facts.ts'
import { followVolumes } from './check-volumes.ts'
import type { VolumeFact } from './facts.ts'

const [A, B] = ['vol_01JCPZ0000000000000000000A', 'vol_01JCPZ0000000000000000000B']
const [P, Q, R] = ['node_P', 'node_Q', 'node_R']

const aVolume = (parts: Partial<VolumeFact> = {}): VolumeFact => ({
  name: 'data',
  class: 'replicated',
  phase: 'Ready',
  primary: P,
  copies: [Q],
  ...parts,
})

const mount = (parts: object = {}) => ({ volume: A, target: '/a', type: 'volume', readOnly: false, ...parts })
const other = (parts: object = {}) => mount({ volume: B, target: '/b', ...parts })

interface Case {
  readonly body?: { [field: string]: unknown }
  readonly a?: Partial<VolumeFact>
  readonly b?: Partial<VolumeFact>
  /** The mounts that the deployment had before; absent for a create. */
  readonly before?: object[]
  readonly sendsPlace?: boolean
  /** The maximum of a scaling policy; absent without one. */
  readonly mostReplicas?: number
}

function check({ body = { volumes: [mount()] }, a, b, before, sendsPlace = true, mostReplicas }: Case) {
  const byId = new Map<string, VolumeFact>()
  if (a !== undefined) byId.set(A, aVolume(a))
  if (b !== undefined) byId.set(B, aVolume({ name: 'other', ...b }))
  const { spec } = normalise(aBody(body), undefined)
  const record = before && { ...aRecord(), ...normalise(aBody({ volumes: before }), undefined).spec }
  const existing = record && { record: { ...aRecord(), ...record }, deleting: false }
  const mode = before === undefined ? 'create' : 'update'
  const volumes = { byId, sendsPlace, ...(mostReplicas !== undefined && { mostReplicas }) }
  return checkFacts(spec, { existing, volumes }, { mode, limits: DEFAULT_LIMITS })
}

const REPLICATED = {}
const EPHEMERAL = { class: 'ephemeral', copies: [] } as const
const [writer, leaving] = [
  { name: 'orders', state: 'bound' },
  { name: 'orders', state: 'releasing' },
] as const
const at = (index: number) => `volumes[${index}].volume`

const ROWS: [about: string, given: Case, ...expected: string[]][] = [
  ['a Ready replicated volume', { a: REPLICATED }],
  ['a Ready ephemeral volume in memory', { a: EPHEMERAL, body: { volumes: [mount({ type: 'tmpfs' })] } }],
  ['an ephemeral volume as bind', { a: EPHEMERAL, body: { volumes: [mount({ type: 'bind' })] } }],
  ['an unknown volume', {}, `volume_not_found ${at(0)}`],
  ['an unknown volume that is mounted already', { before: [mount()] }],
  ['the class object', { a: { class: 'object', primary: null } }, `volume_class_not_wired ${at(0)}`],
  [
    'a replicated volume in memory',
    { a: REPLICATED, body: { volumes: [mount({ type: 'tmpfs' })] } },
    'volume_mount_shape volumes[0].type',
  ],
  ...['Pending', 'Materializing', 'Degraded', 'Promoting', 'Resizing', 'Lost'].map(
    (phase): [string, Case, string] => [`phase ${phase}`, { a: { phase } }, `volume_not_ready ${at(0)}`],
  ),
  ['a phase that is not Ready of a mount that exists', { a: { phase: 'Degraded' }, before: [mount()] }],
  [
    'a phase that is not Ready of a mount that is added',
    { a: { phase: 'Degraded' }, before: [other()] },
    `volume_not_ready ${at(0)}`,
  ],
  ['another writer', { a: { writer } }, `volume_access_mode_conflict ${at(0)}`],
  ['a writer whose container may exist', { a: { writer: leaving } }, `volume_access_mode_conflict ${at(0)}`],
  ['a read-only mount beside a writer', { a: { writer }, body: { volumes: [mount({ readOnly: true })] } }],
  [
    'another writer of a volume in memory',
    { a: { ...EPHEMERAL, writer }, body: { volumes: [mount({ type: 'tmpfs' })] } },
    `volume_access_mode_conflict ${at(0)}`,
  ],
  [
    'two replicas that write',
    { a: REPLICATED, body: { replicas: 2, volumes: [mount()] } },
    `volume_access_mode_conflict ${at(0)}`,
  ],
  ['one replica that writes', { a: REPLICATED, body: { replicas: 1, volumes: [mount()] } }],
  ['no replica', { a: REPLICATED, body: { replicas: 0, volumes: [mount()] } }],
  ['a scaling policy for one replica that writes', { a: REPLICATED, mostReplicas: 1 }],
  [
    'a scaling policy for two replicas that write',
    { a: REPLICATED, mostReplicas: 2 },
    `volume_access_mode_conflict ${at(0)}`,
  ],
  [
    'a scaling policy for two replicas that read',
    { a: REPLICATED, body: { volumes: [mount({ readOnly: true })] }, mostReplicas: 2 },
  ],
  ['two replicas that read', { a: REPLICATED, body: { replicas: 2, volumes: [mount({ readOnly: true })] } }],
  [
    'two replicas of a stored writer, although no mount is sent',
    { a: REPLICATED, body: { replicas: 2, volumes: [mount()] }, before: [mount()], sendsPlace: false },
    `volume_access_mode_conflict ${at(0)}`,
  ],
  ['the primary as nodeId', { a: REPLICATED, body: { nodeId: P, volumes: [mount()] } }],
  [
    'another nodeId',
    { a: REPLICATED, body: { nodeId: Q, volumes: [mount()] } },
    'volume_primary_mismatch nodeId',
  ],
  [
    'another nodeId, when neither nodeId nor volumes is sent',
    { a: REPLICATED, body: { nodeId: Q, volumes: [mount()] }, before: [mount()], sendsPlace: false },
  ],
  [
    'another nodeId beside a reader',
    { a: REPLICATED, body: { nodeId: Q, volumes: [mount({ readOnly: true })] } },
  ],
  ['another nodeId beside an ephemeral volume', { a: EPHEMERAL, body: { nodeId: Q, volumes: [mount()] } }],
  ['two volumes with one primary', { a: REPLICATED, b: REPLICATED, body: { volumes: [mount(), other()] } }],
  [
    'two volumes with two primaries',
    { a: REPLICATED, b: { primary: Q }, body: { volumes: [mount(), other()] } },
    `volume_primary_mismatch ${at(1)}`,
  ],
  [
    'two primaries, one of a reader',
    { a: REPLICATED, b: { primary: Q }, body: { volumes: [mount(), other({ readOnly: true })] } },
  ],
  ['one volume at two targets', { a: REPLICATED, body: { volumes: [mount(), mount({ target: '/again' })] } }],
  [
    'a fault of each mount and of nodeId, in order',
    {
      a: { phase: 'Resizing' },
      body: { nodeId: R, volumes: [other(), mount()] },
    },
    `volume_not_found ${at(0)}`,
    `volume_not_ready ${at(1)}`,
    'volume_primary_mismatch nodeId',
  ],
]

test.each(ROWS)('mounts and volumes: %s', (_about, given, ...expected) => {
  expect(summary(check(given).rejections)).toEqual(expected)
})

test('a rejection names the writer and what blocks the volume', () => {
  const why = (given: Case) => check(given).rejections.map((each) => each.why)
  expect(why({ a: { writer } })[0]).toContain('but orders mounts it read-write')
  expect(why({ a: { writer: leaving } })[0]).toContain('the last container of orders is not confirmed gone')
  expect(why({ a: {}, body: { replicas: 3, volumes: [mount()] } })[0]).toContain('3 replicas would write')
  expect(check({ a: {}, body: { nodeId: R, volumes: [mount()] } }).rejections[0]?.expected).toContain(P)
})

test('a nodeId that equals the primary is announced and not stored', () => {
  const byId = new Map([[A, aVolume()]])
  const specOf = (body: object) => normalise(aBody({ ...body }), undefined).spec
  const followed = followVolumes(specOf({ nodeId: P, volumes: [mount()] }), { byId })
  expect(followed.spec.nodeId).toBeUndefined()
  expect(followed.alterations).toMatchObject([
    { code: 'node_follows_volume', field: 'nodeId', from: P, to: null },
  ])
  for (const body of [
    { nodeId: Q, volumes: [mount()] },
    { volumes: [mount()] },
    { nodeId: P, volumes: [mount({ readOnly: true })] },
    { nodeId: P },
  ]) {
    const spec = specOf(body)
    expect(followVolumes(spec, { byId })).toEqual({ spec, alterations: [] })
  }
})

test('an update of a deployment that writes to a volume stops first, and the change is announced', () => {
  const codes = (body: object) =>
    normalise(aBody({ ...body }), undefined).alterations.filter(
      ({ code }) => code === 'update_order_stop_first',
    )
  expect(codes({ volumes: [mount()] })).toMatchObject([
    { field: 'update.order', from: 'start-first', to: 'stop-first' },
  ])
  expect(normalise(aBody({ volumes: [mount()] }), undefined).spec.update.order).toBe('stop-first')
  const order = { order: 'stop-first', parallelism: 1, failureAction: 'rollback', progressDeadline: '300s' }
  expect(codes({ volumes: [mount()], update: order })).toEqual([])
  expect(codes({ volumes: [mount({ readOnly: true })] })).toEqual([])
  expect(codes({ volumes: [mount({ type: 'tmpfs' })] })).toEqual([])
})

test('volumes of one writer without a common node are reported', () => {
  const warned = (b: Partial<VolumeFact>, a: Partial<VolumeFact> = {}) =>
    check({ a, b, body: { volumes: [mount(), other()] } }).warnings.map(
      ({ code, field }) => `${code} ${field}`,
    )
  expect(warned({ copies: [R] })).toEqual(['volumes_not_promotable_together volumes'])
  expect(warned({ copies: [] })).toEqual(['volumes_not_promotable_together volumes'])
  expect(warned({ copies: [R, Q] })).toEqual([])
  expect(warned({ copies: [] }, { copies: [] })).toEqual([])
})

test('mounts are judged after the switch of the platform', () => {
  const body = aBody({ volumes: [mount()] })
  expect(summary(checkBody(body, forCreate()))).toEqual(['volume_binding_unavailable volumes'])
  expect(checkBody(body, forCreate({ volumesEnabled: true }))).toEqual([])
})
