import { expect, test } from 'vitest'
import { MANIFEST_TYPE } from '../images/sample-image.ts'
import { uniqueRepository } from '../unique-names.ts'
import { sharedRegistry } from './shared-engines.ts'
import { startRegistry } from './start-registry.ts'

const head = (url: string, repository: string, reference: string, headers = {}) =>
  fetch(`${url}/v2/${repository}/manifests/${reference}`, {
    method: 'HEAD',
    headers: { accept: MANIFEST_TYPE, ...headers },
  })

test('resolves a pushed tag to its digest, moves it, and forgets it after a delete', async () => {
  const registry = await sharedRegistry()
  const repository = uniqueRepository()
  const { reference, digest } = await registry.pushSampleImage(repository, 'v1')
  expect(reference).toBe(`${registry.host}/${repository}:v1`)
  expect((await head(registry.url, repository, 'v1')).headers.get('docker-content-digest')).toBe(digest)

  const moved = await registry.moveTag(repository, 'v1')
  expect(moved.digest).not.toBe(digest)
  expect((await head(registry.url, repository, 'v1')).headers.get('docker-content-digest')).toBe(moved.digest)

  await registry.deleteManifest(repository, moved.digest)
  expect((await head(registry.url, repository, 'v1')).status).toBe(404)
  expect((await head(registry.url, repository, digest)).status).toBe(200)
})

test('with an account, the registry requires and accepts it', async () => {
  const registry = await startRegistry({ htpasswd: { username: 'acme', password: 'open sesame' } })
  const repository = uniqueRepository()
  await registry.pushSampleImage(repository, 'v1')
  const refused = await head(registry.url, repository, 'v1')
  expect(refused.status).toBe(401)
  expect(refused.headers.get('www-authenticate')).toMatch(/^Basic realm=/)
  const wrong = `Basic ${Buffer.from('acme:wrong').toString('base64')}`
  expect((await head(registry.url, repository, 'v1', { authorization: wrong })).status).toBe(401)
  const right = `Basic ${Buffer.from('acme:open sesame').toString('base64')}`
  expect((await head(registry.url, repository, 'v1', { authorization: right })).status).toBe(200)
  await registry.stop()
})
