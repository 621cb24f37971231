// The files of the dashboard over HTTP, from a small build.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeTempFolder } from '@holdfast/testkit'
import { createApiClient } from '@holdfast/testkit/platform/api-client'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import { afterAll, expect, test } from 'vitest'

const folder = makeTempFolder('ui')
mkdirSync(join(folder.path, 'assets'))
writeFileSync(join(folder.path, 'index.html'), '<html><head></head><body>the page</body></html>')
writeFileSync(join(folder.path, 'assets', 'main-1a2b.js'), 'export {}')
const platform = await ownPlatform({ settings: { ui: { folder: folder.path } } })
afterAll(async () => {
  await platform.stop()
  folder.remove()
})
const open = createApiClient(platform.baseUrl, undefined)

test.each(['/ui', '/ui/', '/ui/t/1/secrets/resources%2Forders', '/ui/t/1?at=14:05', '/ui/%'])(
  'answers the page at %s without a token, with a policy that names its nonce',
  async (path) => {
    const { status, text, headers } = await open.get(path)
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    const nonce = /nonce="([^"]+)"/.exec(text)?.[1]
    expect(headers.get('content-security-policy')).toContain(`'nonce-${nonce}'`)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  },
)

test('answers assets compressed and for ever, and rejects unknown ones', async () => {
  const { status, text, headers } = await open.get('/ui/assets/main-1a2b.js', { 'accept-encoding': 'gzip' })
  expect([status, text]).toEqual([200, 'export {}'])
  expect(headers.get('content-encoding')).toBe('gzip')
  expect(headers.get('cache-control')).toContain('immutable')
  const unknown = await open.get('/ui/assets/other.js')
  expect([unknown.status, unknown.codes]).toEqual([404, ['not_found']])
  expect((await open.get('/ui/assets/..%2f..%2fetc/passwd')).text).toContain('the page')
})

test('serves nothing below /ui/ while it is switched off', async () => {
  const plain = await ownPlatform({ settings: { ui: { enabled: false, folder: folder.path } } })
  const api = createApiClient(plain.baseUrl, plain.acme.token)
  expect((await api.get('/ui/')).codes).toEqual(['not_found'])
  await plain.stop()
})
