import { describe, expect, test } from 'vitest'
import { faultLines, faultsOf, load, MINIMAL } from './sample-config.fixture.ts'
import { settingRows } from './settings-table.ts'

type Variables = { [name: string]: string }

function configOf(text: string, env: Variables) {
  const loaded = load(text, { env })
  if (!loaded.ok) throw new Error(faultLines(loaded).join('\n'))
  return loaded
}

describe('an environment variable', () => {
  const text = `${MINIMAL}listen: { host: localhost, port: 9000 }\nroles: [api, broker, gateway]\nregistries: [{ host: a.example }]\n`

  test('overrides the file and leaves other settings unchanged', () => {
    const { config, sources } = configOf(text, { HOLDFAST_LISTEN_PORT: '9001' })
    expect(config.listen).toMatchObject({ host: 'localhost', port: 9001, drainSeconds: 5 })
    expect(sources.get('listen.port')).toBe('HOLDFAST_LISTEN_PORT')
    expect(sources.get('listen.host')).toBe('hf.yaml:7:17')
    expect(sources.get('log.level')).toBe('default')
  })

  test('overrides an invalid value of the file', () => {
    const wrong = text.replace('9000', '{ what: ever }')
    expect(configOf(wrong, { HOLDFAST_LISTEN_PORT: '9001' }).config.listen.port).toBe(9001)
  })

  test('separates list elements by commas; lists of objects and maps are JSON', () => {
    const { config } = configOf(text, {
      HOLDFAST_ROLES: 'api, broker',
      HOLDFAST_RESERVED_NAMES: '',
      HOLDFAST_REGISTRIES: '[{"host": "b.example:5000", "plainHttp": true}]',
      HOLDFAST_RESIDENCY_REGIONS: '{"home": ["LU"]}',
      HOLDFAST_METRICS_OPEN: 'true',
    })
    expect(config.roles).toEqual(['api', 'broker'])
    expect(config.reservedNames).toEqual(['etcd', 'holdfast-etcd'])
    expect(config.registries).toEqual([{ host: 'b.example:5000', plainHttp: true }])
    expect(config.residency.regions.home).toEqual(['LU'])
    expect(config.residency.regions.dach).toEqual(['AT', 'CH', 'DE'])
    expect(config.metrics.open).toBe(true)
  })

  test('creates a section that the file does not have', () => {
    const env = { HOLDFAST_ETCD_TLS_CA: '/ca.pem', HOLDFAST_ETCD_ENDPOINTS: 'https://e:2379' }
    expect(configOf(text, env).config.etcd.tls).toEqual({ ca: '/ca.pem' })
  })

  test.each<[Variables, string]>([
    [{ HOLDFAST_LISTEN_PORT: '80x' }, 'type listen.port @ HOLDFAST_LISTEN_PORT'],
    [{ HOLDFAST_LISTEN_PORT: '' }, 'type listen.port @ HOLDFAST_LISTEN_PORT'],
    [{ HOLDFAST_LISTEN_PORT: '1e3' }, 'type listen.port @ HOLDFAST_LISTEN_PORT'],
    [{ HOLDFAST_METRICS_OPEN: 'yes' }, 'type metrics.open @ HOLDFAST_METRICS_OPEN'],
    [{ HOLDFAST_LOG_LEVEL: 'INFO' }, 'form log.level @ HOLDFAST_LOG_LEVEL'],
    [{ HOLDFAST_ROLES: '' }, 'range roles @ HOLDFAST_ROLES'],
    [{ HOLDFAST_ROLES: 'api,,broker' }, 'form roles[1] @ HOLDFAST_ROLES'],
    [{ HOLDFAST_REGISTRIES: '[{' }, 'syntax registries @ HOLDFAST_REGISTRIES'],
    [{ HOLDFAST_REGISTRIES: '' }, 'type registries @ HOLDFAST_REGISTRIES'],
    [
      { HOLDFAST_REGISTRIES: '[{"host": "a", "host": "b"}]' },
      'duplicate registries[0].host @ HOLDFAST_REGISTRIES',
    ],
    [{ HOLDFAST_REGISTRIES: '[{"host": "a/b"}]' }, 'form registries[0].host @ HOLDFAST_REGISTRIES'],
    [
      { HOLDFAST_RESIDENCY_REGIONS: '{"eu": ["xx"]}' },
      'form residency.regions.eu[0] @ HOLDFAST_RESIDENCY_REGIONS',
    ],
    [{ HOLDFAST_LISTEN: '1' }, 'unknown  @ HOLDFAST_LISTEN'],
    [{ HOLDFAST_LISTEN_PROT: '1' }, 'unknown  @ HOLDFAST_LISTEN_PROT'],
    [{ HOLDFAST_: '1' }, 'unknown  @ HOLDFAST_'],
  ])('%j', (env, fault) => {
    expect(faultLines(load(text, { env }))[0]).toBe(fault)
  })

  test('is rejected with a suggestion when it is unknown', () => {
    const [fault] = faultsOf(load(text, { env: { HOLDFAST_LISTEN_PROT: '1' } }))
    expect(fault?.suggestion).toBe('HOLDFAST_LISTEN_PORT')
  })

  test('is ignored when the client or the tests read it', () => {
    const env = {
      HOLDFAST_URL: 'x',
      HOLDFAST_TOKEN: 'x',
      HOLDFAST_TENANT: 'x',
      HOLDFAST_CONFIG: 'x',
      HOLDFAST_CONTEXTS_FILE: 'x',
      PATH: 'x',
    }
    expect(
      load(text, { env: { ...env, HOLDFAST_ENGINES: 'x', HOLDFAST_LONG: '1', HOLDFAST_PROGRAMS: 'x' } }).ok,
    ).toBe(true)
  })
})

describe('the address of the secrets store', () => {
  const without = MINIMAL.replace(/ {2}address: .*\n/, '')
  const address = (text: string, env: Variables) => configOf(text, env).config.secretsStore.address
  const [own, bao, vault] = ['http://own:1', 'http://bao:1', 'http://vault:1']

  test('falls back to the variables of the tools of the secrets store', () => {
    expect(address(without, { BAO_ADDR: bao, VAULT_ADDR: vault })).toBe(bao)
    expect(address(without, { VAULT_ADDR: vault })).toBe(vault)
    expect(address(without, { HOLDFAST_SECRETS_STORE_ADDRESS: own, BAO_ADDR: bao })).toBe(own)
    expect(address(MINIMAL, { BAO_ADDR: bao })).toBe('http://127.0.0.1:8200')
  })

  test('is checked whatever its source', () => {
    expect(faultLines(load(without, { env: { VAULT_ADDR: 'vault:8200' } }))).toEqual([
      'form secretsStore.address @ VAULT_ADDR',
    ])
  })
})

describe('the names of environment variables', () => {
  test('are derived from the path of the setting', () => {
    const variable = (path: string) => settingRows.find((leaf) => leaf.path === path)?.variable
    expect(variable('secretsStore.api.roleId')).toBe('HOLDFAST_SECRETS_STORE_API_ROLE_ID')
    expect(variable('quotas.volume_bytes')).toBe('HOLDFAST_QUOTAS_VOLUME_BYTES')
    expect(variable('publicUrl')).toBe('HOLDFAST_PUBLIC_URL')
  })

  test('are unique and different from those of the other tools', () => {
    const names = settingRows.map(({ variable }) => variable)
    expect(new Set(names).size).toBe(names.length)
    const reserved = [
      'HOLDFAST_CONFIG',
      'HOLDFAST_URL',
      'HOLDFAST_TOKEN',
      'HOLDFAST_TENANT',
      'HOLDFAST_CONTEXTS_FILE',
      'HOLDFAST_ENGINES',
      'HOLDFAST_LONG',
      'HOLDFAST_PROGRAMS',
    ]
    expect(names.filter((name) => reserved.includes(name))).toEqual([])
  })

  test('exist for every setting', () => {
    for (const { variable, node, path } of settingRows) {
      const env = { [variable]: node.kind === 'string' ? '\n' : '{' }
      const places = faultsOf(load(MINIMAL, { env })).map(({ where }) => where)
      expect(places, path).toContain(variable)
    }
  })
})
