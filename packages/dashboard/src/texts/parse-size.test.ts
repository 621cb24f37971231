import { expect, test } from 'vitest'
import { parseSize } from './parse-size.ts'

test.each([
  ['20Gi', 20 * 1024 ** 3],
  ['512 MiB', 512 * 1024 ** 2],
  ['1.5g', 1.5 * 1024 ** 3],
  ['1048576', 1_048_576],
  ['2TB', 2 * 1024 ** 4],
] as const)('%s', (text, bytes) => {
  expect(parseSize(text)).toBe(bytes)
})

test.each(['', '0', 'Gi', '-1Gi', '1 apple', '9999999T'])('%s is no size', (text) => {
  expect(parseSize(text)).toBeUndefined()
})
