import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { makeTempFolder } from '../temp-folder.ts'
import { engineBinary, engineVersion } from './engine-binaries.ts'

afterEach(() => vi.unstubAllEnvs())

test('reads engine versions from the files that pin them', () => {
  expect(engineVersion('etcd')).toMatch(/^3\.6\.\d+$/)
  expect(engineVersion('vault')).toMatch(/^1\.13\.\d+$/)
  expect(engineVersion('caddy')).toMatch(/^2\.11\.\d+$/)
  expect(engineVersion('dockerd-29')).toMatch(/^2\.0\.0-beta\.\d+$/)
  expect(engineVersion('schemathesis')).toMatch(/^4\.32\.\d+$/)
})

test('finds a binary in the cache folder of its version', () => {
  const cache = makeTempFolder('cache')
  vi.stubEnv('HOLDFAST_ENGINES', cache.path)
  const folder = join(cache.path, `etcd-${engineVersion('etcd')}`)
  mkdirSync(folder)
  writeFileSync(join(folder, 'etcd'), '')
  chmodSync(join(folder, 'etcd'), 0o755)
  expect(engineBinary('etcd')).toBe(join(folder, 'etcd'))
  cache.remove()
})

test('an error about a missing engine names the command that installs it', () => {
  vi.stubEnv('HOLDFAST_ENGINES', '/nowhere')
  expect(() => engineBinary('vault')).toThrow(/vault is not installed .*npm run bootstrap/)
  vi.stubEnv('PATH', '/nowhere')
  expect(() => engineBinary('docker-registry')).toThrow(/npm run bootstrap/)
})
