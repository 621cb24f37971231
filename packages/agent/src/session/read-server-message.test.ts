import { encodeOpen } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { readServerMessage } from './read-server-message.ts'

const read = (message: object) => readServerMessage(Buffer.from(JSON.stringify(message)))

const ITEM = {
  assignmentId: 'rep_1',
  owner: 'deployment/dep_1',
  generation: 1,
  templateHash: 'h',
  desired: 'running',
}
const TEMPLATE = { name: 'web', image: 'i', environment: { A: '1' }, labels: {}, stopGracePeriod: '10s' }
const COMPLETE = {
  type: 'complete',
  session: 1,
  revision: 7,
  items: [ITEM],
  templates: { 'deployment/dep_1': { h: TEMPLATE } },
}

test('keeps unknown members of a server message at any depth, out of sight', () => {
  const newer = {
    ...COMPLETE,
    sentAt: 'now',
    items: [{ ...ITEM, priority: 3 }],
    templates: { 'deployment/dep_1': { h: { ...TEMPLATE, devices: ['gpu'] } } },
  }
  expect(JSON.parse(JSON.stringify(read(newer)))).toEqual(COMPLETE)
  expect(JSON.parse(encodeOpen(read(newer)))).toEqual(newer)
})

test.each([
  ['a field of the wrong type', { ...COMPLETE, revision: '7' }],
  ['a nested field of the wrong type', { ...COMPLETE, items: [{ ...ITEM, generation: true }] }],
  ['a missing field', { type: 'complete', session: 1, revision: 7, items: [] }],
  ['no type', { session: 1 }],
  ['a type that is not a string', { type: 7 }],
])('rejects a server message with %s', (_what, message) => {
  expect(() => read(message)).toThrow(TypeError)
})

test('ignores server messages of an unknown type', () => {
  expect(read({ type: 'dance', partners: 2 })).toBeUndefined()
  expect(read({ type: 'constructor' })).toBeUndefined()
})
