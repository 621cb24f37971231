// Which recommendations a volume has, with both sides of every threshold, and the order of the checks when one is applied.

import { asNodeId, asVolumeId, type Json, type Measurement, type Recommendation } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import type { VolumeRecord } from '../volumes/volume-record.ts'
import { checkApply } from './check-apply.ts'
import { type AdviceFacts, type NodeAtRisk, recommend } from './recommend.ts'

const NOW = Date.parse('2026-11-17T12:00:00.000Z')
const MIB = 1024 ** 2
const SIZE = 1000 * MIB
const [N1, N2] = [asNodeId('node_1'), asNodeId('node_2')]
const at = (ms: number): string => new Date(ms).toISOString()

const volume = (
  parts: Partial<VolumeRecord> = {},
  spec: Partial<VolumeRecord['spec']> = {},
): VolumeRecord => ({
  id: asVolumeId('vol_1'),
  spec: { name: 'data', class: 'replicated', sizeBytes: SIZE, replicas: 1, ...spec },
  phase: 'Ready',
  reason: null,
  primary: { nodeId: N1, epoch: 1, since: at(0) },
  copies: [
    { nodeId: N1, role: 'primary', state: 'current' },
    { nodeId: N2, role: 'replica', state: 'current' },
  ],
  ...parts,
})

const measuredAs = (usedBytes: number, more: Partial<Measurement> = {}): Measurement => ({
  volume: asVolumeId('vol_1'),
  usedBytes,
  measuredAt: at(NOW - 20_000),
  ...more,
})

const HEALTHY: NodeAtRisk = { name: 'n1', status: 'ready', schedulable: true }

const facts = (parts: Partial<AdviceFacts> = {}): AdviceFacts => ({
  now: NOW,
  enrolledNodes: 3,
  nodeOf: () => HEALTHY,
  measured: measuredAs(SIZE / 2),
  ...parts,
})

const withNode = (parts: Partial<NodeAtRisk>) => facts({ nodeOf: () => ({ ...HEALTHY, ...parts }) })

const typesOf = (one: VolumeRecord, given: AdviceFacts): string[] =>
  recommend(one, given).map(({ type, priority }) => `${type} ${priority}`)

const behind = (state: 'lagging' | 'missing', ms: number): VolumeRecord =>
  volume({
    copies: [
      { nodeId: N1, role: 'primary', state: 'current' },
      { nodeId: N2, role: 'replica', state, stateSince: at(NOW - ms) },
    ],
  })

describe('copies', () => {
  test.each<[string, VolumeRecord, AdviceFacts, string[]]>([
    ['a protected volume', volume(), facts(), []],
    ['no replica', volume({}, { replicas: 0 }), facts(), ['under_replicated high']],
    ['an ephemeral volume', volume({}, { replicas: 0, class: 'ephemeral' }), facts(), []],
    ['a replica behind for 10 minutes', behind('lagging', 600_000), facts(), ['replica_unhealthy high']],
    ['a replica behind for less', behind('lagging', 599_999), facts(), []],
    ['a replica missing for 10 minutes', behind('missing', 600_000), facts(), ['replica_unhealthy high']],
    [
      'a primary that is unreachable',
      volume(),
      withNode({ status: 'unreachable' }),
      ['primary_at_risk critical'],
    ],
    ['a cordoned primary', volume(), withNode({ schedulable: false }), ['primary_at_risk critical']],
    [
      'a pool at 85 %',
      volume(),
      withNode({ pool: { poolBytes: 100, usedBytes: 85 } }),
      ['primary_at_risk critical'],
    ],
    ['a pool below 85 %', volume(), withNode({ pool: { poolBytes: 100, usedBytes: 84 } }), []],
    ['a primary whose node is gone', volume(), facts({ nodeOf: () => undefined }), []],
    ['a volume that is being deleted', volume({ phase: 'Deleting' }, { replicas: 0 }), facts(), []],
    ['a lost volume', volume({ phase: 'Lost' }, { replicas: 0 }), facts(), []],
  ])('%s', (_name, one, given, expected) => expect(typesOf(one, given)).toEqual(expected))

  test('propose one more copy and need a node for each', () => {
    const [enough] = recommend(volume({}, { replicas: 0 }), facts({ enrolledNodes: 2 }))
    expect(enough).toMatchObject({
      applicable: true,
      parameters: { action: 'set_replicas', target_replicas: 1 },
      measured: { replicas: 0, enrolledNodes: 2 },
    })
    const [tooFew] = recommend(volume({}, { replicas: 0 }), facts({ enrolledNodes: 1 }))
    expect(tooFew).toMatchObject({ applicable: false })
    expect(tooFew?.why).toContain('1 replica needs 2 enrolled nodes, and the tenant has 1.')
    const [most] = recommend(behind('missing', 600_000), facts({ enrolledNodes: 9 }))
    expect(most?.parameters.target_replicas).toBe(2)
    const full = volume({}, { replicas: 4 })
    const [beyond] = recommend(full, { ...withNode({ schedulable: false }), enrolledNodes: 9 })
    expect(beyond).toMatchObject({ applicable: false })
    expect(beyond?.why).toContain('at most 4 replicas')
  })
})

const WEEK = { bytes: SIZE / 5, since: '2026-11-10' }

describe('sizes', () => {
  test.each<[string, Measurement | undefined, string[]]>([
    ['84.9 % in use', measuredAs(SIZE * 0.849), []],
    ['85 % in use', measuredAs(SIZE * 0.85), ['capacity_low high']],
    ['94.9 % in use', measuredAs(SIZE * 0.949), ['capacity_low high']],
    ['95 % in use', measuredAs(SIZE * 0.95), ['capacity_low critical']],
    ['20 % for seven days', measuredAs(MIB, { highest: WEEK }), ['capacity_excess low']],
    ['more than 20 % once', measuredAs(MIB, { highest: { ...WEEK, bytes: SIZE / 5 + 1 } }), []],
    ['20 % for six days', measuredAs(MIB, { highest: { ...WEEK, since: '2026-11-11' } }), []],
    ['no history', measuredAs(MIB), []],
    ['never measured', undefined, []],
  ])('%s', (_name, measured, expected) => expect(typesOf(volume(), facts({ measured }))).toEqual(expected))

  test('grow to one and a half times the use and shrink to 1.3 times the highest, in whole MiB', () => {
    const [low] = recommend(volume(), facts({ measured: measuredAs(900 * MIB + 1) }))
    expect(low?.parameters).toEqual({ action: 'resize', target_size_bytes: 1351 * MIB })
    const [excess] = recommend(volume(), facts({ measured: measuredAs(MIB, { highest: WEEK }) }))
    expect(excess?.parameters).toEqual({ action: 'resize', target_size_bytes: 260 * MIB })
    const small = volume({}, { sizeBytes: 17 * MIB })
    const [least] = recommend(small, facts({ measured: measuredAs(0, { highest: { ...WEEK, bytes: 0 } }) }))
    expect(least?.parameters.target_size_bytes).toBe(16 * MIB)
    const smallest = volume({}, { sizeBytes: 16 * MIB })
    expect(
      recommend(smallest, facts({ measured: measuredAs(0, { highest: { ...WEEK, bytes: 0 } }) })),
    ).toEqual([])
  })

  test.each<[string, VolumeRecord, Partial<Measurement>, boolean]>([
    ['measured 60 s ago', volume(), { measuredAt: at(NOW - 60_000) }, true],
    ['measured earlier', volume(), { measuredAt: at(NOW - 60_001) }, false],
    ['measured by a clock that is far ahead', volume(), { measuredAt: at(NOW + 60_001) }, false],
    ['not Ready', volume({ phase: 'Resizing' }), {}, false],
  ])('%s: applicable %s', (_name, one, more, applicable) => {
    const [found] = recommend(one, facts({ measured: measuredAs(SIZE * 0.9, more) }))
    expect(found).toMatchObject({ type: 'capacity_low', applicable })
    expect(found?.why === '90 % of the volume is in use.').toBe(applicable)
  })
})

describe('apply', () => {
  const recommendation = (parts: Partial<Recommendation> = {}): Recommendation => ({
    id: 'rec_1',
    type: 'under_replicated',
    priority: 'high',
    volume_id: asVolumeId('vol_1'),
    volume_name: 'data',
    applicable: true,
    why: 'The volume has no replica.',
    parameters: { action: 'set_replicas', target_replicas: 1 },
    measured: { sizeBytes: SIZE, replicas: 0, enrolledNodes: 3, usedBytes: 900 },
    ...parts,
  })
  const resizing = { parameters: { action: 'resize', target_size_bytes: 2000 } } as const
  const faultOf = (given: Recommendation, sent?: Json): string => {
    const checked = checkApply(given, sent)
    return checked.ok ? JSON.stringify(checked.value) : `${checked.rejection.code} ${checked.rejection.field}`
  }
  const BAD = 'dvm_recommendation_bad_parameter parameters.'

  test.each<[Json | undefined, string]>([
    [undefined, '{"action":"set_replicas","replicas":1}'],
    [{ action: 'set_replicas', target_replicas: 2 }, '{"action":"set_replicas","replicas":2}'],
    [{ action: 'destroy', target_replicas: 'x' }, 'dvm_recommendation_unknown_action parameters.action'],
    [{ action: 7 }, 'dvm_recommendation_unknown_action parameters.action'],
    [{ target_replicas: 2 }, `${BAD}action`],
    [{ action: 'resize', target_size_bytes: 5 }, `${BAD}action`],
    [{ action: 'set_replicas' }, `${BAD}target_replicas`],
    [{ action: 'set_replicas', target_replicas: 0 }, `${BAD}target_replicas`],
    [{ action: 'set_replicas', target_replicas: 1.5 }, `${BAD}target_replicas`],
    [{ action: 'set_replicas', target_replicas: '1' }, `${BAD}target_replicas`],
    [{ action: 'set_replicas', target_replicas: 1, target_size_bytes: 1 }, `${BAD}target_size_bytes`],
    [{ action: 'set_replicas', target_replicas: 1, speed: 1 }, `${BAD}speed`],
    [
      { action: 'set_replicas', target_replicas: 3 },
      'dvm_recommendation_insufficient_nodes parameters.target_replicas',
    ],
    [[], 'field_type_invalid parameters'],
  ])('%j: %s', (sent, expected) => expect(faultOf(recommendation(), sent)).toBe(expected))

  test('a recommendation that is not applicable is refused after its parameters are checked', () => {
    const blocked = recommendation({ applicable: false })
    expect(faultOf(blocked)).toBe('dvm_recommendation_not_applicable id')
    expect(faultOf(blocked, { action: 'x' })).toBe('dvm_recommendation_unknown_action parameters.action')
    const alone = recommendation({
      applicable: false,
      measured: { ...recommendation().measured, enrolledNodes: 1 },
    })
    expect(faultOf(alone)).toBe('dvm_recommendation_not_applicable id')
  })

  test('a size below the bytes in use is refused', () => {
    const grown = recommendation(resizing)
    expect(faultOf(grown, { action: 'resize', target_size_bytes: 900 })).toBe(
      '{"action":"resize","sizeBytes":900}',
    )
    expect(faultOf(grown, { action: 'resize', target_size_bytes: 899 })).toBe(
      'dvm_recommendation_stale_measurement parameters.target_size_bytes',
    )
  })
})
