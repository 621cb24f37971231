// The environment file that `enroll --start` writes.

import { expect, test } from 'vitest'
import { optionsText } from './start-unit.ts'

test('writes the options of the unit as one variable', () => {
  expect(optionsText(['--peer-address', '10.0.0.1:8081'])).toMatch(
    /^#.*\nOPTIONS=--peer-address 10\.0\.0\.1:8081\n$/,
  )
})
