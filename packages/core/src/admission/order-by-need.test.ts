// Tests the order of several manifests: each after those that it needs, all others in the order given.

import { expect, test } from 'vitest'
import { orderByNeed } from './order-by-need.ts'

const named = (name: string, fields: object = {}) => ({ kind: 'Deployment', name, ...fields })

test('a document follows those that it depends on, transitively', () => {
  const documents = [
    named('c', { dependsOn: { b: 'started' } }),
    named('z'),
    named('b', { dependsOn: { a: 'healthy', gone: 'started' } }),
    named('a'),
  ]
  expect(orderByNeed(documents)).toEqual([3, 2, 0, 1])
})

test('a document follows those whose nodes it must share', () => {
  expect(orderByNeed([named('near', { placement: { affinity: ['db'] } }), named('db')])).toEqual([1, 0])
})

test('a document that refers to a secret follows the one that writes it', () => {
  const reader = named('reader', { secrets: [{ name: 'DB', vault_path: 'resources/db' }] })
  const writer = named('writer', {
    secrets: [{ name: 'DB', vault_path: 'resources/db', generate: { keys: ['p'] } }],
  })
  expect(orderByNeed([reader, writer])).toEqual([1, 0])
  expect(orderByNeed([writer, reader])).toEqual([0, 1])
})

test('documents in a cycle, without a name or of another type keep their places', () => {
  const [a, b] = [named('a', { dependsOn: { b: 'started' } }), named('b', { dependsOn: { a: 'started' } })]
  expect(orderByNeed([a, b]).sort()).toEqual([0, 1])
  expect(orderByNeed([null, 'text', [], { name: 7, secrets: 'none', placement: 1 }])).toEqual([0, 1, 2, 3])
})
