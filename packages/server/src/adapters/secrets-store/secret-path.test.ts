import type { TenantId } from '@holdfast/contract'
import { isTenantId } from '@holdfast/contract'
import { parseRegistryHost } from '@holdfast/core'
import { inRun } from '@holdfast/testkit/long-run'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { registryPath, requireNamespaces, storePath } from './secret-path.ts'

const TENANT = tenantId('7f8e0a52-6f1b-4e3a-9f63-2a1b0c9d8e7f')
const GRANTED = ['deployments', 'resources']
const GRAMMAR =
  /^kv-7f8e0a52-6f1b-4e3a-9f63-2a1b0c9d8e7f\/data\/(?:(?:deployments|resources)\/[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?|registries\/[a-z0-9._-]+)$/

function tenantId(text: string): TenantId {
  if (!isTenantId(text)) throw new TypeError(text)
  return text
}
const at = (namespace: string, label: string) => storePath(TENANT, 'data', { namespace, label }, GRANTED)

test('a valid path is built from its parts', () => {
  expect(at('deployments', 'web')).toBe(`kv-${TENANT}/data/deployments/web`)
  expect(storePath(TENANT, 'metadata', { registryHost: 'localhost:5000' }, GRANTED)).toBe(
    `kv-${TENANT}/metadata/registries/localhost_5000`,
  )
})

test.each([
  ['deployments', '..'],
  ['deployments', '.'],
  ['deployments', ''],
  ['deployments', 'a/b'],
  ['deployments', 'a%2fb'],
  ['deployments', '%2e%2e'],
  ['deployments', '%252e'],
  ['deployments', 'a\\b'],
  ['deployments', 'a\0'],
  ['deployments', 'a\n'],
  ['deployments', '．．'],
  ['deployments', '+'],
  ['deployments', '*'],
  ['deployments', 'a?version=1'],
  ['deployments', 'a#'],
  ['deployments', 'A'],
  ['deployments', '-a'],
  ['deployments', 'a-'],
  ['deployments', 'a'.repeat(64)],
  ['registries', 'localhost_5000'],
  ['', 'web'],
  ['other', 'web'],
  ['deployments/..', 'web'],
  ['__proto__', 'web'],
])('%j / %j never becomes a path', (namespace, label) => {
  expect(at(namespace, label)).toBeUndefined()
})

test('every path that is built matches the grammar, for arbitrary parts', () => {
  const fragment = fc.oneof(
    fc.string(),
    fc.constantFrom(
      'deployments',
      'resources',
      'registries',
      'web',
      '..',
      '%2e',
      '/',
      '+',
      '*',
      'a',
      '\0',
      'é',
    ),
  )
  const part = fc.array(fragment, { maxLength: 4 }).map((parts) => parts.join(''))
  const property = fc.property(part, part, part, (namespace, label, registryHost) => {
    const built = [at(namespace, label), storePath(TENANT, 'data', { registryHost }, GRANTED)]
    return built.every((path) => path === undefined || GRAMMAR.test(path))
  })
  fc.assert(property, { numRuns: inRun(2_000, 10_000) })
})

test('each registry has its own path segment', () => {
  const hosts = [
    'a.b:443',
    'a.b:5000',
    'a-b:443',
    '[::1]:443',
    '[::1:443]:443',
    '[1::443]:5',
    '10.0.0.1:443',
    'localhost:5',
  ]
  for (const host of hosts) expect(parseRegistryHost(host)).toBe(host)
  expect(new Set(hosts.map(registryPath)).size).toBe(hosts.length)
  expect(registryPath('Registry.example.com')).toBeUndefined()
  expect(registryPath('registry.example.com')).toBeUndefined()
})

test('a namespace that cannot be granted is a configuration error', () => {
  expect(requireNamespaces(['a', 'b', 'a'])).toEqual(['a', 'b'])
  for (const bad of ['registries', '', '*', '+', 'a/b', '..']) {
    expect(() => requireNamespaces([bad])).toThrow(TypeError)
  }
})
