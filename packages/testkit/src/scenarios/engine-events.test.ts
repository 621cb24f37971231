import { expect, test } from 'vitest'
import { type EngineEvent, ranTwice } from './engine-events.ts'

const event = (timeNano: number, action: string, containerId: string, owner = 'job/1'): EngineEvent => ({
  node: 'n1',
  action,
  containerId,
  owner,
  exitCode: '',
  timeNano,
})

test.each([
  ['one after the other', [event(1, 'start', 'a'), event(2, 'die', 'a'), event(3, 'start', 'b')], 0],
  [
    'removed without a report of the end',
    [event(1, 'start', 'a'), event(2, 'destroy', 'a'), event(3, 'start', 'b')],
    0,
  ],
  ['both at once', [event(1, 'start', 'a'), event(2, 'start', 'b'), event(3, 'die', 'a')], 1],
  ['of two jobs', [event(1, 'start', 'a'), event(2, 'start', 'b', 'job/2')], 0],
  ['of a deployment', [event(1, 'start', 'a', 'deployment/1'), event(2, 'start', 'b', 'deployment/1')], 0],
])('containers that ran %s', (_about, events, expected) => {
  expect(ranTwice(events, (owner) => owner.startsWith('job/'))).toHaveLength(expected)
})
