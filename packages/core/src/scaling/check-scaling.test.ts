import type { DeploymentSpec, JsonObject, ScalingPolicy } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { aBody, forCreate, type Row, summary } from '../admission/admission.fixture.ts'
import { normalise } from '../admission/normalize/normalise.ts'
import { DEFAULT_LIMITS } from '../limits.ts'
import { checkScaling, checkScalingFacts } from './check-scaling.ts'

const POLICY: ScalingPolicy = {
  min: 2,
  max: 10,
  metric: 'cpu',
  targetPercent: 60,
  scaleDownDelay: '300s',
}
const body = (parts: object): JsonObject => JSON.parse(JSON.stringify({ ...POLICY, ...parts }))
const invalid = (field: string) => `scaling_policy_invalid ${field}`

const ROWS: Row[] = [
  ['all fields', {}],
  ['memory', { metric: 'memory' }],
  ['no delay', { scaleDownDelay: undefined }],
  ['null as delay', { scaleDownDelay: null }],
  ['min 1', { min: 1 }],
  ['min 0', { min: 0 }, invalid('min')],
  ['min -1', { min: -1 }, invalid('min')],
  ['half a replica', { min: 1.5 }, 'field_type_invalid min'],
  ['min as text', { min: '2' }, 'field_type_invalid min'],
  ['min equal to max', { min: 10 }],
  ['min above max', { min: 11 }, invalid('min')],
  ['no min', { min: undefined }, invalid('min')],
  ['null as min', { min: null }, invalid('min')],
  ['max at the limit', { max: 100 }],
  ['max above the limit', { max: 101 }, invalid('max')],
  ['max 0', { min: 1, max: 0 }, invalid('max')],
  ['no max', { max: undefined }, invalid('max')],
  ['another metric', { metric: 'requests' }, invalid('metric')],
  ['no metric', { metric: undefined }, invalid('metric')],
  ['a number as metric', { metric: 5 }, 'field_type_invalid metric'],
  ['a target of 9 percent', { targetPercent: 9 }, invalid('targetPercent')],
  ['a target of 10 percent', { targetPercent: 10 }],
  ['a target of 95 percent', { targetPercent: 95 }],
  ['a target of 96 percent', { targetPercent: 96 }, invalid('targetPercent')],
  ['no target', { targetPercent: undefined }, invalid('targetPercent')],
  ['a delay of 0s', { scaleDownDelay: '0s' }],
  ['a delay of 1h', { scaleDownDelay: '1h' }],
  ['a delay of an hour and a second', { scaleDownDelay: '3601s' }, invalid('scaleDownDelay')],
  ['a delay without a unit', { scaleDownDelay: '300' }, 'field_type_invalid scaleDownDelay'],
  ['a number as delay', { scaleDownDelay: 300 }, 'field_type_invalid scaleDownDelay'],
  ['an unknown field', { target: 60 }, 'field_unknown target'],
  ['a field that only answers have', { status: {} }, 'field_unknown status'],
  [
    'several faults, in the order of the fields',
    { targetPercent: 0, max: 500, color: 'red', metric: 'disk', min: 0 },
    'field_unknown color',
    invalid('min'),
    invalid('max'),
    invalid('metric'),
    invalid('targetPercent'),
  ],
]

test.each(ROWS)('a new policy with %s', (_about, parts, ...expected) => {
  const checked = checkScaling(body(parts), undefined, { limits: DEFAULT_LIMITS })
  expect(checked.ok ? [] : summary(checked.rejections)).toEqual(expected)
})

test('a body that is no object is rejected', () => {
  const checked = checkScaling([], undefined, {})
  expect(!checked.ok && summary(checked.rejections)).toEqual(['field_type_invalid '])
})

test('an absent delay is 300s and is announced; a sent one is not', () => {
  const checked = checkScaling(body({ scaleDownDelay: undefined }), undefined, {})
  expect(checked).toMatchObject({
    ok: true,
    value: {
      policy: POLICY,
      alterations: [{ code: 'default_applied', field: 'scaleDownDelay', to: '300s' }],
    },
  })
  expect(checkScaling(body({}), undefined, {})).toMatchObject({ ok: true, value: { alterations: [] } })
})

test('fields that are not sent stay, and rules across fields judge the merged policy', () => {
  const stored = { ...POLICY, scaleDownDelay: '60s' }
  expect(checkScaling({ max: 20 }, stored, {})).toMatchObject({
    ok: true,
    value: { policy: { ...stored, max: 20 }, alterations: [] },
  })
  const below = checkScaling({ max: 1 }, stored, {})
  expect(!below.ok && summary(below.rejections)).toEqual([invalid('min')])
  expect(checkScaling({ scaleDownDelay: null }, stored, {})).toMatchObject({
    ok: true,
    value: { policy: POLICY },
  })
})

const specWith = (parts: object): DeploymentSpec =>
  normalise(aBody(JSON.parse(JSON.stringify(parts))), undefined, forCreate().limits).spec

const CPU = { resources: { cpuMillis: 100, memoryBytes: 0 } }
const mount = { volume: 'vol_01JCPZ0000000000000000000A', target: '/data', type: 'volume' }

test.each<readonly [string, Partial<ScalingPolicy>, object, readonly string[]]>([
  ['a requested metric', {}, CPU, []],
  ['a metric without a request', { metric: 'memory' }, CPU, [invalid('metric')]],
  ['no requests at all', {}, {}, [invalid('metric')]],
  ['several replicas that write', {}, { ...CPU, volumes: [{ ...mount, readOnly: false }] }, [invalid('max')]],
  ['one replica that writes', { min: 1, max: 1 }, { ...CPU, volumes: [{ ...mount, readOnly: false }] }, []],
  [
    'several replicas that write to memory',
    {},
    { ...CPU, volumes: [{ ...mount, type: 'tmpfs', readOnly: false }] },
    [invalid('max')],
  ],
  ['several replicas that read', {}, { ...CPU, volumes: [{ ...mount, readOnly: true }] }, []],
])('a policy for a deployment with %s', (_about, policy, spec, expected) => {
  expect(summary(checkScalingFacts({ ...POLICY, ...policy }, specWith(spec)))).toEqual(expected)
})
