// Tests how far apart two versions are.

import { expect, test } from 'vitest'
import { isOlder, minorsBehind } from './version-skew.ts'

test.each([
  ['0.1.0', '0.1.0', 0, false],
  ['0.1.0', '0.1.1', 0, true],
  ['0.1.9', '0.1.10', 0, true],
  ['0.1.1', '0.1.0', 0, false],
  ['0.1.9', '0.2.0', 1, true],
  ['0.9.0', '0.10.0', 1, true],
  ['0.1.0', '0.3.0', 2, true],
  ['0.3.0', '0.1.0', -2, false],
  ['0.9.0', '1.0.0', Infinity, true],
  ['1.0.0', '0.9.0', -Infinity, false],
  ['0.2.0-rc.1', '0.3.0', 1, true],
  ['', '0.1.0', undefined, false],
  ['latest', '0.1.0', undefined, false],
  ['0.1.0', '1.0', undefined, false],
])('%s beside %s: %s minor versions behind, older: %s', (version, than, minors, older) => {
  expect(minorsBehind(version, than)).toBe(minors)
  expect(isOlder(version, than)).toBe(older)
})
