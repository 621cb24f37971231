// Quantities become the numbers of the API, exactly or not at all.

import { describe, expect, test } from 'vitest'
import { convertQuantities, quantityText } from './quantities.ts'

const convert = (resources: { [name: string]: number | string | null }) => {
  const { value, rejections } = convertQuantities({ resources })
  return rejections.length === 0
    ? Object(value).resources
    : rejections.map(({ field, why }) => `${field}: ${why}`)
}

describe('a quantity is converted', () => {
  test.each([
    ['cpu', '500m', { cpuMillis: 500 }],
    ['cpu', 0.5, { cpuMillis: 500 }],
    ['cpu', 2, { cpuMillis: 2000 }],
    ['cpu', '1.005', { cpuMillis: 1005 }],
    ['cpu', 0, { cpuMillis: 0 }],
    ['memory', '256Mi', { memoryBytes: 268_435_456 }],
    ['memory', '1.5Gi', { memoryBytes: 1_610_612_736 }],
    ['memory', '500M', { memoryBytes: 500_000_000 }],
    ['memory', '64k', { memoryBytes: 64_000 }],
    ['memory', '2Ti', { memoryBytes: 2_199_023_255_552 }],
  ])('%s: %s', (name, written, converted) => expect(convert({ [name]: written })).toEqual(converted))

  test('and shown in the unit that divides it', () =>
    expect(
      [500, 2000]
        .map((millis) => quantityText('cpuMillis', millis))
        .concat([268_435_456, 1_610_612_736, 1000, 1023].map((bytes) => quantityText('memoryBytes', bytes))),
    ).toEqual(['500m', '2', '256Mi', '1536Mi', undefined, undefined]))
})

describe('an ambiguous quantity is rejected', () => {
  test.each([
    ['cpu', 0.0005, 'CPU is counted in whole thousandths of a core, so this amount would be rounded.'],
    ['cpu', '1.5m', 'CPU is counted in whole thousandths of a core, so this amount would be rounded.'],
    ['cpu', '500M', 'CPU has the unit m, for thousandths of a core, or none; not M.'],
    ['cpu', -1, 'This is not a quantity.'],
    ['cpu', null, 'This is not a quantity.'],
    ['memory', 256, 'The unit is missing. To give a number of bytes, use memoryBytes.'],
    [
      'memory',
      '256m',
      'm is not a unit of memory here: write Mi for powers of 1024, or M for powers of 1000.',
    ],
    [
      'memory',
      '1kb',
      'kb is not a unit of memory here: write Ki for powers of 1024, or k for powers of 1000.',
    ],
    ['memory', '0.3Ki', 'Memory is counted in whole bytes, so this amount would be rounded.'],
    ['memory', 'hunter2', 'This is not a quantity.'],
  ])('%s: %s', (name, written, why) =>
    expect(convert({ [name]: written })).toEqual([`resources.${name}: ${why}`]),
  )

  test('if the number of the API is there too', () =>
    expect(convert({ cpu: '1', cpuMillis: 1000 })).toEqual([
      'resources.cpu: resources has both cpu and cpuMillis; keep one of them.',
    ]))
})
