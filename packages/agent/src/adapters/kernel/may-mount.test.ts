import { expect, test } from 'vitest'
import { mayMount } from './may-mount.ts'

test.each([
  ['CapPrm:\t0\nCapEff:\t000001ffffffffff\n', true],
  ['CapEff:\t0000000000200000\n', true],
  ['CapEff:\t0000000000000020\n', false],
  ['Name:\tnode\n', true],
])('reads %j', (status, expected) => {
  expect(mayMount(status)).toBe(expected)
})
