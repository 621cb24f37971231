import { expect, test } from 'vitest'
import { isDigest, isRepository, isTag, parseImageReference, parseRegistryHost } from './image-reference.ts'

const SHA256 = `sha256:${'a1'.repeat(32)}`
const SHA512 = `sha512:${'0f'.repeat(64)}`

test.each([
  ['nginx', { host: 'docker.io:443', repository: 'library/nginx' }],
  ['nginx:1.27', { host: 'docker.io:443', repository: 'library/nginx', tag: '1.27' }],
  ['docker.io/nginx:1', { host: 'docker.io:443', repository: 'library/nginx', tag: '1' }],
  ['index.docker.io/nginx:1', { host: 'docker.io:443', repository: 'library/nginx', tag: '1' }],
  ['acme/web:1', { host: 'docker.io:443', repository: 'acme/web', tag: '1' }],
  // Without a slash, the reference names no registry, and the part after the colon is a tag.
  ['localhost:5000', { host: 'docker.io:443', repository: 'library/localhost', tag: '5000' }],
  ['localhost/web:1', { host: 'localhost:443', repository: 'web', tag: '1' }],
  ['localhost:5000/web:1', { host: 'localhost:5000', repository: 'web', tag: '1' }],
  [
    'Registry.Example.com/team/web:V1_a.b-c',
    { host: 'registry.example.com:443', repository: 'team/web', tag: 'V1_a.b-c' },
  ],
  [
    `registry.example.com:8443/a/b/c@${SHA256}`,
    { host: 'registry.example.com:8443', repository: 'a/b/c', digest: SHA256 },
  ],
  [`web:1@${SHA512}`, { host: 'docker.io:443', repository: 'library/web', tag: '1', digest: SHA512 }],
  ['10.0.0.1:5000/web:1', { host: '10.0.0.1:5000', repository: 'web', tag: '1' }],
  ['[2001:DB8::1]:5000/web:1', { host: '[2001:db8::1]:5000', repository: 'web', tag: '1' }],
  ['[::1]/web:1', { host: '[::1]:443', repository: 'web', tag: '1' }],
  ['a.b/x__y/p-q/r.s/t---u:1', { host: 'a.b:443', repository: 'x__y/p-q/r.s/t---u', tag: '1' }],
  ['acme/web:latest', { host: 'docker.io:443', repository: 'acme/web', tag: 'latest' }],
])('%s names its parts', (text, parts) => {
  expect(parseImageReference(text)).toEqual(parts)
})

test.each([
  '',
  ' ',
  ':',
  '@',
  '/',
  ':1',
  '/web:1',
  'web:',
  'web/',
  'a//b:1',
  'web: 1',
  ' web:1',
  'web:1 ',
  'web:1\n',
  '\tweb:1',
  'https://registry.example.com/web:1',
  'http://web:1',
  'docker://web:1',
  '//registry.example.com/web:1',
  'user@registry.example.com/web:1',
  'user:password@registry.example.com/web:1',
  'registry.example.com/user@web:1',
  'Web:1',
  'acme/Web:1',
  'registry.example.com/Web:1',
  'registry.example.com/../web:1',
  'a/./b:1',
  '../web:1',
  'registry.example.com/web%2fx:1',
  'registry.example.com/web?x=1',
  'registry.example.com/web#x',
  'a\\b:1',
  'web\0:1',
  'web:1:2',
  'web:-1',
  'web:.1',
  `web:${'a'.repeat(129)}`,
  'web:tag/with',
  'wéb:1',
  'web:１',
  'registry。example.com/web:1',
  'web@sha256:abc',
  `web@sha256:${'A1'.repeat(32)}`,
  `web@md5:${'a'.repeat(32)}`,
  `web@${SHA256}@${SHA256}`,
  `web@${SHA256}:1`,
  'web@',
  '-web:1',
  'web-:1',
  'web._x:1',
  'a___b:1',
  'a..b/c:1',
  '.a/b:1',
  'a.b./c:1',
  '-a.b/c:1',
  'a-.b/c:1',
  'a_b.c/d:1',
  'a.b:/c:1',
  'a.b:0/c:1',
  'a.b:65536/c:1',
  'a.b:080/c:1',
  'a.b:5000:1/c:1',
  'a.b:x/c:1',
  'a.b:+80/c:1',
  '127.1/x:1',
  '2130706433.1/x:1',
  '0x7f.0.0.1/x:1',
  '0177.0.0.1/x:1',
  '256.0.0.1/x:1',
  '1.2.3/x:1',
  'a.0x7f/x:1',
  'a.1/x:1',
  '2130706433:80/x:1',
  '[::1/web:1',
  '::1/web:1',
  '[fe80::1%eth0]/web:1',
  '[::ffff:1.2.3.4]/web:1',
  '[]/web:1',
  '[::1]x/web:1',
  '[::1]:/web:1',
  'c'.repeat(0) + 'ab'.repeat(32),
  `${'a'.repeat(254)}/b:1`,
  `${'a'.repeat(100_000)}`,
  `a${'-'.repeat(200)}`,
])('%j is no reference', (text) => {
  expect(parseImageReference(text)).toBeUndefined()
})

test('makes a registry host canonical, so that it can be compared as a string', () => {
  expect(parseRegistryHost('Registry.Example.com')).toBe('registry.example.com:443')
  expect(parseRegistryHost('registry.example.com:443')).toBe('registry.example.com:443')
  expect(parseRegistryHost('docker.io')).toBe('docker.io:443')
  expect(parseRegistryHost('localhost:5000')).toBe('localhost:5000')
  expect(parseRegistryHost('[::1]:5000')).toBe('[::1]:5000')
  expect(parseRegistryHost('registry.example.com/x')).toBeUndefined()
  expect(parseRegistryHost('u@registry.example.com')).toBeUndefined()
})

test('checks the parts of a reference separately', () => {
  expect([isRepository('a/b'), isRepository('a//b'), isRepository('')]).toEqual([true, false, false])
  expect([isTag('1'), isTag(''), isTag('a/b')]).toEqual([true, false, false])
  expect([isDigest(SHA256), isDigest(`${SHA256} `), isDigest('sha256:')]).toEqual([true, false, false])
})

test('parses long and repetitive references in linear time', () => {
  const started = process.cpuUsage()
  for (const unit of ['a', 'a-', 'a__', 'a/', '-', '_', '.', 'a.', '0', ':', '@']) {
    for (let length = 100; length <= 600; length += 100)
      parseImageReference(`${unit.repeat(length)}!`.slice(-600))
    parseImageReference(unit.repeat(1_000_000))
  }
  // Measures CPU time, which other processes do not affect. A parser that backtracks at every position takes minutes.
  const { user, system } = process.cpuUsage(started)
  expect((user + system) / 1000).toBeLessThan(5000)
})
