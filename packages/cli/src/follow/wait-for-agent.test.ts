// Tests which containers `holdfast node upgrade` reports as changed.

import type { MachineContainer } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { compareContainers } from './wait-for-agent.ts'

const WEB: MachineContainer = {
  id: 'a1',
  name: 'web.0',
  image: 'web',
  state: 'running',
  startedAt: '2026-01-31T12:00:00Z',
  ours: true,
}

test.each([
  ['the same container', [WEB], { kept: 1, changed: [] }],
  ['a restarted one', [{ ...WEB, startedAt: '2026-01-31T12:01:00Z' }], { kept: 0, changed: ['web.0'] }],
  ['a replaced one', [{ ...WEB, id: 'b2' }], { kept: 0, changed: ['web.0'] }],
  ['a stopped one', [{ ...WEB, state: 'exited' }], { kept: 0, changed: ['web.0'] }],
  ['none', [], { kept: 0, changed: ['web.0'] }],
  ['a new one beside it', [WEB, { ...WEB, id: 'b2', name: 'web.1' }], { kept: 1, changed: [] }],
])('after the upgrade there is %s', (_, after, expected) => {
  expect(compareContainers([WEB], after)).toEqual(expected)
})

test('containers that are not managed, or did not run before, are no concern of the upgrade', () => {
  const before = [
    { ...WEB, ours: false },
    { ...WEB, state: 'exited' },
  ]
  expect(compareContainers(before, [])).toEqual({ kept: 0, changed: [] })
})
