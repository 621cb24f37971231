import { encodeOpen } from '@holdfast/contract'
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

const HELLO = {
  type: 'hello',
  nodeId: 'node_1',
  generation: 1,
  bootId: 'boot',
  signature: 'signature',
  version: '0.1.0',
  labels: {},
  engine: { version: '29.0.0', apiVersion: '1.52' },
  capacity: { cpuMillis: 1, memoryBytes: 1 },
}

test('keeps unknown members of an agent message at any depth, out of sight', () => {
  const observations = [{ ...OBSERVATION, mood: { good: true } }]
  const newer = { type: 'status', session: 1, observations, sent: 'now' }
  const known = { type: 'status', session: 1, observations: [OBSERVATION] }
  expect(JSON.parse(JSON.stringify(read(newer)))).toEqual(known)
  expect(JSON.parse(encodeOpen(read(newer)))).toEqual(newer)
  const odd = '{"type":"heartbeat","session":1,"__proto__":{"x":1},"constructor":1}'
  expect(JSON.stringify(read(odd))).toBe('{"type":"heartbeat","session":1}')
  expect(encodeOpen(read(odd))).toBe(odd)
})

test('limits the unknown members of everything that is stored: each observation, and hello', () => {
  const status = (...moods: number[]) => ({
    type: 'status',
    session: 1,
    observations: moods.map((length) => ({ ...OBSERVATION, mood: 'x'.repeat(length) })),
  })
  expect(read(status(4000, 4000, 4000))).toMatchObject({ type: 'status' })
  expect(read(status(10, 4100))).toBeUndefined()
  expect(read({ ...HELLO, engine: { ...HELLO.engine, mood: 'x'.repeat(4000) } })).toMatchObject(HELLO)
  expect(read({ ...HELLO, engine: { ...HELLO.engine, mood: 'x'.repeat(4100) } })).toBeUndefined()
})

test('accepts a long list of containers in which a newer agent states one more member each', () => {
  const container = { id: 'c', name: 'web', image: 'x', state: 'running', startedAt: null, ours: true }
  const containers = Array(200).fill({ ...container, networks: ['holdfast-acme'] })
  expect(read({ type: 'answer', id: '1', containers })).toMatchObject({ type: 'answer' })
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
  [
    'a trusted root that is no fingerprint',
    { type: 'status', session: 1, observations: [], authorities: ['x'] },
  ],
  ['negative credit', { type: 'credit', stream: 1, bytes: -1 }],
])('rejects an agent message with %s', (_what, message) => {
  expect(read(message)).toBeUndefined()
})

test.each([
  ['no list of capabilities', {}, true],
  ['64 capabilities', { capabilities: Array(64).fill('x'.repeat(256)) }, true],
  ['65 capabilities', { capabilities: Array(65).fill('x') }, false],
  ['a capability of 257 characters', { capabilities: ['x'.repeat(257)] }, false],
  ['a capability with a line break', { capabilities: ['x\n'] }, false],
  ['a capability that is not a text', { capabilities: [1] }, false],
  ['8 trusted roots', { authorities: Array(8).fill(`sha256:${'a'.repeat(64)}`) }, true],
  ['9 trusted roots', { authorities: Array(9).fill(`sha256:${'a'.repeat(64)}`) }, false],
  ['a trusted root that is no fingerprint', { authorities: ['sha256:a'] }, false],
])('accepts or rejects a hello with %s', (_what, parts, valid) => {
  expect(read({ ...HELLO, ...parts })).toEqual(valid ? { ...HELLO, ...parts } : undefined)
})

test('distinguishes an unknown message type from an invalid message', () => {
  expect(read({ type: 'dance', partners: 2 })).toBe('unknown')
  expect(read({ type: 'constructor' })).toBe('unknown')
})
