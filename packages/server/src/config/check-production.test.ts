import { expect, test } from 'vitest'
import { checkConfig } from './check-config.ts'
import { checkProduction } from './check-production.ts'
import { load } from './sample-config.fixture.ts'

const SERVER = {
  listen: { host: '0.0.0.0', port: 8443, tls: { cert: '/tls/cert.pem', key: '/tls/key.pem' } },
  publicUrl: 'https://hf.example',
  roles: ['api', 'controllers', 'gateway'],
  cluster: { url: 'https://10.0.0.1:8444', keyFile: '/secret/cluster-key' },
  etcd: {
    endpoints: ['https://etcd.example:2379'],
    tls: { cert: '/tls/etcd.pem', key: '/tls/etcd-key.pem' },
  },
  secretsStore: {
    address: 'https://bao.example:8200',
    api: { roleId: 'api-role', secretIdFile: '/secret/api-id' },
  },
  registries: [{ host: 'r.example' }],
}
const FILE = 'hf.yaml'
const PRIVATE = 0o100600
const BROKER = { roleId: 'broker-role', secretIdFile: '/secret/broker-id' }

/** Checks the settings of SERVER with some changed; `modes` are the modes of files other than 0600. */
function check(changes: object, modes: { readonly [path: string]: number } = {}) {
  const text = JSON.stringify({ ...SERVER, ...changes })
  const readFile = () => ({ kind: 'text', text: 'content\n' }) as const
  return checkConfig(load(text, { readFile }), (config, sources) =>
    checkProduction({ config, sources, file: FILE, modeOf: (path) => modes[path] ?? PRIVATE }),
  )
}

test('a server with TLS, a cluster key, one identity and private files is fit for production', () => {
  expect(check({})).toMatchObject({ exitCode: 0, text: expect.stringContaining('publicUrl') })
})

test('a broker with its own identity is fit for production', () => {
  const { address } = SERVER.secretsStore
  expect(check({ roles: ['broker'], secretsStore: { address, broker: BROKER } }).exitCode).toBe(0)
})

const { tls: _tls, ...plainListen } = SERVER.listen
const { url } = SERVER.cluster

test.each<[setting: string, found: string, remedy: string, changes: object]>([
  ['listen.tls', 'plain HTTP on 0.0.0.0', 'set listen.tls.cert', { listen: plainListen }],
  ['publicUrl', 'http://hf.example', 'https://', { publicUrl: 'http://hf.example' }],
  [
    'cluster.url',
    'http://10.0.0.1:8444',
    'https://',
    { cluster: { ...SERVER.cluster, url: 'http://10.0.0.1:8444' } },
  ],
  [
    'etcd.endpoints[0]',
    'http://127.0.0.1:2379',
    'https://',
    { etcd: { endpoints: ['http://127.0.0.1:2379'] } },
  ],
  [
    'secretsStore.address',
    'http://127.0.0.1:8200',
    'https://',
    { secretsStore: { ...SERVER.secretsStore, address: 'http://127.0.0.1:8200' } },
  ],
  [
    'registries[0].plainHttp',
    'true for r.example',
    'remove the setting',
    { registries: [{ host: 'r.example', plainHttp: true }] },
  ],
  [
    'secretsStore.broker',
    'both identities',
    'its own configuration and user',
    { secretsStore: { ...SERVER.secretsStore, broker: BROKER } },
  ],
])('%s is refused with what was found and what to do: %s', (setting, found, remedy, changes) => {
  const { exitCode, text } = check(changes)
  const [line, ...others] = text.trimEnd().split('\n')
  expect(others).toEqual(['1 fault to correct'])
  expect(line?.startsWith(`${setting}: found ${found}`), line).toBe(true)
  expect(line).toContain(remedy)
  expect(exitCode).toBe(1)
})

test('a proxy with TLS may be in front of a listener on loopback', () => {
  expect(check({ listen: { host: '127.0.0.1', port: 8080 } }).exitCode).toBe(0)
})

test('all roles in one process are refused with both of their identities, and without a cluster key', () => {
  const roles = ['api', 'controllers', 'gateway', 'broker']
  const { text } = check({
    roles,
    secretsStore: { ...SERVER.secretsStore, broker: BROKER },
    cluster: undefined,
  })
  expect(text).toContain('cluster.key: found no value; set cluster.keyFile')
  expect(text).toContain('3 faults to correct')
  expect(text).toContain('secretsStore.broker: found both identities')
  expect(text).toContain('roles: found api, controllers, gateway, broker; run the role broker')
})

test.each([
  ['listen.tls.key', '/tls/key.pem'],
  ['etcd.tls.key', '/tls/etcd-key.pem'],
  ['cluster.keyFile', '/secret/cluster-key'],
  ['secretsStore.api.secretIdFile', '/secret/api-id'],
])('a secret file that others can read is refused: %s', (setting, path) => {
  const { text } = check({}, { [path]: 0o100644 })
  expect(text.split('\n')[0]).toBe(
    `${setting}: found ${path} with mode 0644; make it unreadable for other users: chmod o= ${path}`,
  )
  expect(check({}, { [path]: 0o100640 }).exitCode).toBe(0)
})

test('a certificate may be read by everyone', () => {
  expect(check({}, { '/tls/cert.pem': 0o100644, '/tls/etcd.pem': 0o100644 }).exitCode).toBe(0)
})

test('a configuration file that others can read may contain no secret', () => {
  const inline = { cluster: { url, key: 'in the file itself' } }
  expect(check(inline, { [FILE]: 0o100644 }).text).toContain(`cluster.key: found ${FILE} with mode 0644`)
  expect(check(inline).exitCode).toBe(0)
  expect(check({}, { [FILE]: 0o100644 }).exitCode).toBe(0)
})

test('no secret is shown', () => {
  const inline = { cluster: { url, key: 'do-not-show' }, publicUrl: 'http://hf.example' }
  expect(check(inline, { [FILE]: 0o100644 }).text).not.toContain('do-not-show')
})
