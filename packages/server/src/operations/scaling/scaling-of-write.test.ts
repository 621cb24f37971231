import { DEFAULT_LIMITS } from '@holdfast/core'
import { expect, test } from 'vitest'
import { aSpec } from '../../store/records.fixture.ts'
import { scalingOfWrite } from './scaling-of-write.ts'

const POLICY = { min: 1, max: 3, metric: 'cpu', targetPercent: 50 }
const restore = (scalingPolicy: typeof POLICY) =>
  scalingOfWrite(
    { admission: { limits: DEFAULT_LIMITS }, clock: { now: () => 0 } },
    aSpec('web'),
    undefined,
    { scalingPolicy },
  )

test('a restored policy gets the default of a field that its backup lacks', () => {
  expect(restore(POLICY)).toMatchObject({
    ok: true,
    value: { policy: { ...POLICY, scaleDownDelay: '300s' } },
  })
})

test('a restored policy is judged again', () => {
  expect(restore({ ...POLICY, targetPercent: 5 })).toMatchObject({
    ...{ ok: false, rejections: [{ field: 'scalingPolicy.targetPercent' }] },
  })
})
