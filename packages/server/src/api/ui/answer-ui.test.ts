import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { makeTempFolder } from '@holdfast/testkit'
import { afterAll, expect, test } from 'vitest'
import { createAnswerUi } from './answer-ui.ts'
import { loadUiFiles } from './load-files.ts'

const folder = makeTempFolder('ui')
afterAll(() => folder.remove())

const INDEX = '<!doctype html><html><head><title>H</title></head><body></body></html>'
const files: { readonly [path: string]: string } = {
  'index.html': INDEX,
  'icon.svg': '<svg/>',
  'assets/main-1a2b.js': 'export {}',
  'assets/main-1a2b.js.br': 'compressed by the build',
  'assets/style-3c4d.css': 'a{}',
  '.vite/manifest.json': '{}',
}
for (const [path, text] of Object.entries(files)) {
  mkdirSync(join(folder.path, path, '..'), { recursive: true })
  writeFileSync(join(folder.path, path), text)
}

let nonces = 0
const loaded = loadUiFiles(folder.path)
if (loaded === undefined) throw new Error('the files were not found')
const answer = createAnswerUi(loaded, () => {
  nonces += 1
  return `n${nonces}`
})
const ask = (path: string, acceptEncoding = '', ifNoneMatch?: string) =>
  answer({ path, acceptEncoding, ifNoneMatch })

test.each(['', 'login', 't/1/deployments/web/why', 't/1/nodes/acme-1.example', 'index.html/x'])(
  'answers the page for %j, with a new nonce and not to be stored',
  (path) => {
    const first = ask(path)
    const nonce = /nonce="(n\d+)"/.exec(String(first?.body))?.[1]
    expect(first?.headers['content-security-policy']).toContain(`style-src-elem 'self' 'nonce-${nonce}'`)
    expect(first?.headers['cache-control']).toBe('no-store')
    expect(String(ask(path)?.body)).not.toContain(`"${nonce}"`)
  },
)

test('allows no inline script, no foreign source and no frame', () => {
  const policy = String(ask('')?.headers['content-security-policy']).split('; ')
  expect(policy).toEqual(
    expect.arrayContaining([
      "default-src 'none'",
      "script-src 'self'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ]),
  )
})

test('answers an asset for ever, in the smallest form that the client accepts', () => {
  const plain = ask('assets/main-1a2b.js')
  expect(plain?.headers['cache-control']).toBe('public, max-age=31536000, immutable')
  expect(Buffer.from(plain?.body ?? '').toString()).toBe('export {}')
  const br = ask('assets/main-1a2b.js', 'gzip, deflate, br')
  expect([br?.headers['content-encoding'], String(br?.body)]).toEqual(['br', 'compressed by the build'])
  const gzip = ask('assets/main-1a2b.js', 'gzip, br;q=0')
  expect(gzip?.headers['content-encoding']).toBe('gzip')
  expect(gunzipSync(gzip?.body ?? '').toString()).toBe('export {}')
  expect(ask('assets/style-3c4d.css', 'br')?.headers['content-encoding']).toBeUndefined()
})

test('checks files without a hash in their names again, and answers 304 while they are the same', () => {
  const icon = ask('icon.svg')
  expect(icon?.headers['cache-control']).toBe('no-cache')
  expect(ask('icon.svg', '', icon?.headers['etag'])?.status).toBe(304)
})

test.each(['assets/gone-1a2b.js', 'assets/', 'gone.js', '.vite/manifest.json', 'assets/main-1a2b.js.br'])(
  'does not know the asset %s',
  (path) => expect(ask(path)?.headers['content-type'] ?? 'unknown').not.toMatch(/javascript|json/),
)

test.each(['assets/gone-1a2b.js', 'gone.js'])('answers no page for the asset %s', (path) =>
  expect(ask(path)).toBeUndefined(),
)

test('keeps every response from other origins', () => {
  for (const path of ['', 'icon.svg', 'assets/main-1a2b.js'])
    expect(ask(path)?.headers).toMatchObject({
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    })
})

test('has nothing to serve without a build', () => {
  const empty = makeTempFolder('no-ui')
  expect(loadUiFiles(empty.path)).toBeUndefined()
  empty.remove()
})
