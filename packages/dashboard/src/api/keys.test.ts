import { CHANGED_RESOURCES } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { keys, keysOfChanges } from './keys.ts'

const startsWith = (key: readonly unknown[], prefix: readonly unknown[]): boolean =>
  prefix.every((part, at) => key[at] === part)
const isOld = (key: readonly unknown[], ...changed: Parameters<typeof keysOfChanges>[1]): boolean =>
  keysOfChanges('t', changed).some((prefix) => startsWith(key, prefix))

test('a changed deployment makes its own data, the lists and the overview old, and no other deployment', () => {
  const changed = { resource: 'deployments', name: 'shop', uid: 'dep_1' } as const
  expect(isOld(keys.deployment('t', 'shop', 'status'), changed)).toBe(true)
  expect(isOld(keys.why('t', 'shop', {}), changed)).toBe(true)
  expect(isOld(keys.deploymentList('t', { q: 's' }), changed)).toBe(true)
  expect(isOld(keys.overview('t'), changed)).toBe(true)
  expect(isOld(keys.deployment('t', 'orders', 'status'), changed)).toBe(false)
  expect(isOld(keys.deployment('other', 'shop', 'status'), changed)).toBe(false)
})

test('a changed node makes every explanation old', () => {
  const changed = { resource: 'nodes', name: 'acme-1', uid: 'node_1' } as const
  expect(isOld(keys.why('t', 'shop', {}), changed)).toBe(true)
  expect(isOld(keys.nodes('t', 'list'), changed)).toBe(true)
  expect(isOld(keys.plan('t', 'drain', 'node_2'), changed)).toBe(true)
})

test('every resource of the stream makes some data old', () => {
  for (const resource of CHANGED_RESOURCES)
    expect(keysOfChanges('t', [{ resource, name: '', uid: '' }]).length).toBeGreaterThan(0)
})

test('each key is listed once', () => {
  const item = { resource: 'events', name: '', uid: '' } as const
  expect(keysOfChanges('t', [item, item])).toEqual([['t', 'events']])
})
