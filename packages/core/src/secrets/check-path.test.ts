import { expect, test } from 'vitest'
import { summary } from '../admission/admission.fixture.ts'
import { checkSecretPath } from './check-path.ts'

test.each<[string, string, ...string[]]>([
  ['resources', 'orders-db'],
  ['deployments', 'a'.repeat(63)],
  ['resources', '', 'secret_path_shape resource'],
  ['resources', 'a/b', 'secret_path_shape resource'],
  ['x', 'a/b', 'secret_path_shape resource'],
  ['registries', 'db', 'secret_path_namespace namespace'],
  ['x', 'DB', 'secret_path_namespace namespace'],
  ['resources', 'DB', 'secret_path_name resource'],
  ['resources', '..', 'secret_path_name resource'],
  ['resources', 'a'.repeat(64), 'secret_path_name resource'],
])('%s, %s', (namespace, label, ...expected) => {
  expect(summary(checkSecretPath(namespace, label, ['deployments', 'resources']))).toEqual(expected)
})

test('rejects a label that is bound to another namespace', () => {
  const [rejection, ...more] = checkSecretPath('resources', 'db', ['deployments', 'resources'], 'deployments')
  expect(rejection).toMatchObject({
    code: 'secret_path_namespace_split',
    field: 'namespace',
    received: 'resources',
  })
  expect(rejection?.expected).toBe('deployments/db')
  expect(more).toEqual([])
})
