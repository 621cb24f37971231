import { expect, test } from 'vitest'
import { readAgentMessage } from './read-message.ts'

const read = (message: object | string) =>
  readAgentMessage(Buffer.from(typeof message === 'string' ? message : JSON.stringify(message)))

const OBSERVATION = {
  ...{ assignmentId: 'rep_1', generation: 1, seq: 1, state: 'ready', containerId: null, startedAt: null },
  ...{ exitCode: null, restarts: 0, reason: '', gone: false },
}

test('unknown fields are left out at any depth', () => {
  const observations = [{ ...OBSERVATION, mood: { good: true } }]
  expect(read({ type: 'status', session: 1, observations, sent: 'now' })).toEqual({
    type: 'status',
    session: 1,
    observations: [OBSERVATION],
  })
  expect(read('{"type":"heartbeat","session":1,"__proto__":{"x":1},"constructor":1}')).toEqual({
    type: 'heartbeat',
    session: 1,
  })
})

test.each([
  ['a field of another type', { type: 'heartbeat', session: '1' }],
  [
    'a field inside of another type',
    { type: 'status', session: 1, observations: [{ ...OBSERVATION, seq: 'x' }] },
  ],
  ['a field that is missing', { type: 'status', session: 1 }],
  ['a list for an object', { type: 'status', session: 1, observations: [[]] }],
  ['a type that is no text', { type: 7 }],
  ['credit that takes away', { type: 'credit', stream: 1, bytes: -1 }],
])('%s is no message', (_what, message) => {
  expect(read(message)).toBeUndefined()
})

test('a type that only a newer agent knows is told apart', () => {
  expect(read({ type: 'dance', partners: 2 })).toBe('unknown')
  expect(read({ type: 'constructor' })).toBe('unknown')
})
