import { expect, test } from 'vitest'
import { readAgentMessage } from './read-message.ts'

const read = (message: object | string) =>
  readAgentMessage(Buffer.from(typeof message === 'string' ? message : JSON.stringify(message)))

const OBSERVATION = {
  assignmentId: 'rep_1',
  generation: 1,
  seq: 1,
  state: 'ready',
  containerId: null,
  startedAt: null,
  exitCode: null,
  restarts: 0,
  reason: '',
  gone: false,
}

test('drops unknown fields of an agent message at any depth', () => {
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
  ['a field of the wrong type', { type: 'heartbeat', session: '1' }],
  [
    'a nested field of the wrong type',
    { type: 'status', session: 1, observations: [{ ...OBSERVATION, seq: 'x' }] },
  ],
  ['a missing field', { type: 'status', session: 1 }],
  ['a list instead of an object', { type: 'status', session: 1, observations: [[]] }],
  ['a type that is not a string', { type: 7 }],
  ['negative credit', { type: 'credit', stream: 1, bytes: -1 }],
])('rejects an agent message with %s', (_what, message) => {
  expect(read(message)).toBeUndefined()
})

test('distinguishes an unknown message type from an invalid message', () => {
  expect(read({ type: 'dance', partners: 2 })).toBe('unknown')
  expect(read({ type: 'constructor' })).toBe('unknown')
})
