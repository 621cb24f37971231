import { expect, test } from 'vitest'
import { readServerMessage } from './read-server-message.ts'

const read = (message: object) => readServerMessage(Buffer.from(JSON.stringify(message)))

const ITEM = {
  assignmentId: 'rep_1',
  deployment: 'dep_1',
  generation: 1,
  templateHash: 'h',
  desired: 'running',
}
const TEMPLATE = { name: 'web', image: 'i', environment: { A: '1' }, labels: {}, stopGracePeriod: '10s' }
const COMPLETE = {
  ...{ type: 'complete', session: 1, revision: 7 },
  items: [ITEM],
  templates: { dep_1: { h: TEMPLATE } },
}

test('what a newer server says beside the known fields is left out at any depth', () => {
  const newer = {
    ...COMPLETE,
    sentAt: 'now',
    items: [{ ...ITEM, priority: 3 }],
    templates: { dep_1: { h: { ...TEMPLATE, devices: ['gpu'] } } },
  }
  expect(read(newer)).toEqual(COMPLETE)
})

test.each([
  ['a field of another type', { ...COMPLETE, revision: '7' }],
  ['a field inside of another type', { ...COMPLETE, items: [{ ...ITEM, generation: true }] }],
  ['a field that is missing', { type: 'complete', session: 1, revision: 7, items: [] }],
  ['a message without a type', { session: 1 }],
  ['a type that is no text', { type: 7 }],
])('%s is no message', (_what, message) => {
  expect(() => read(message)).toThrow(TypeError)
})

test('a type that only a newer server knows is left alone', () => {
  expect(read({ type: 'dance', partners: 2 })).toBeUndefined()
  expect(read({ type: 'constructor' })).toBeUndefined()
})
