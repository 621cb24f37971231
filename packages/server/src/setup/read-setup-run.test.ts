import { expect, test } from 'vitest'
import { readSetupRun } from './read-setup-run.ts'

const read = (...entries: [string, string][]) => readSetupRun(new Map([['--single', ''], ...entries]))

test.each<[string, [string, string][], number]>([
  ['the port of the public address', [['--public-url', 'https://a.example:9443']], 9443],
  [
    'the given port, behind a proxy',
    [
      ['--public-url', 'https://a.example'],
      ['--listen-port', '8443'],
    ],
    8443,
  ],
])('the server listens on %s', (_, entries, listenPort) => {
  expect(read(...entries)).toMatchObject({ kind: 'run', run: { options: { listenPort, root: '/' } } })
})

test('accepts a first tenant and a registry with its own authority', () => {
  const given: [string, string][] = [
    ['--public-url', 'https://a.example:8443'],
    ['--tenant', 'acme'],
    ['--registry', 'registry.a.example:5000'],
    ['--registry-ca', '/etc/holdfast/registry-ca.pem'],
  ]
  expect(read(...given)).toMatchObject({
    kind: 'run',
    run: {
      options: {
        tenant: 'acme',
        registry: { host: 'registry.a.example:5000', ca: '/etc/holdfast/registry-ca.pem' },
      },
    },
  })
})

test.each<[string, [string, string], string]>([
  ['a tenant with a capital letter', ['--tenant', 'Acme'], '--tenant Acme: accepted are lowercase'],
  ['the name of the platform tenant', ['--tenant', 'platform'], 'other than platform'],
  [
    'a registry with a scheme',
    ['--registry', 'https://a.example'],
    '--registry https://a.example: accepted is host',
  ],
  ['an authority without a registry', ['--registry-ca', '/ca.pem'], '--registry-ca needs --registry'],
])('rejects %s', (_, entry, why) => {
  expect(read(['--public-url', 'https://a.example:8443'], entry)).toEqual({
    kind: 'fault',
    why: expect.stringContaining(why),
  })
})

test.each<[string, [string, string][], string]>([
  ['no address', [], 'setup needs --public-url https://HOST:PORT'],
  ['plain HTTP', [['--public-url', 'http://a.example:8443']], 'setup needs --public-url https://HOST:PORT'],
  ['a path', [['--public-url', 'https://a.example:8443/x']], 'setup needs --public-url https://HOST:PORT'],
  ['a port below 1024', [['--public-url', 'https://a.example']], 'must be from 1024 to 65535'],
  [
    'a port that is no number',
    [
      ['--public-url', 'https://a.example'],
      ['--listen-port', 'x'],
    ],
    'must be from 1024 to 65535',
  ],
  [
    'another root whose units would not be those of this machine',
    [
      ['--public-url', 'https://a.example:8443'],
      ['--root', '/mnt'],
    ],
    '--root needs --dry-run',
  ],
  [
    'a relative root',
    [
      ['--public-url', 'https://a.example:8443'],
      ['--root', 'x'],
    ],
    'absolute paths',
  ],
])('rejects %s', (_, entries, why) => {
  expect(read(...entries)).toEqual({ kind: 'fault', why: expect.stringContaining(why) })
})
