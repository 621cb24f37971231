import type { Limits } from '@holdfast/core'
import { describe, expect, test } from 'vitest'
import { explainFault } from './config-fault.ts'
import { loadConfig } from './load-config.ts'
import { faultLines, faultsOf, load, MINIMAL } from './sample-config.fixture.ts'

/** Number of the line after the text MINIMAL, where text that a test appends begins. */
const NEXT = MINIMAL.split('\n').length
/** The key by which server processes authenticate each other; required if the broker is a separate process. */
const CLUSTER = 'cluster: { key: a-key-of-at-least-thirty-two-characters }\n'
const REDACTED = '<redacted>'

function valid(text: string, env: { [name: string]: string } = {}) {
  const loaded = load(text, { env })
  if (!loaded.ok) throw new Error(loaded.faults.map(explainFault).join('\n'))
  return loaded
}

describe('a valid configuration', () => {
  test('fills every default into the smallest file', () => {
    const { config } = valid(MINIMAL)
    const { residency, limits, quotas, etcd, secretsStore, ...rest } = config
    expect(rest).toEqual({
      listen: expect.objectContaining({ host: '127.0.0.1', port: 8080, drainSeconds: 5 }),
      publicUrl: 'http://127.0.0.1:8080',
      roles: ['api', 'controllers', 'gateway', 'broker'],
      secrets: { namespaces: ['deployments', 'resources'] },
      registries: [],
      rates: {
        requestsPerMinute: 1200,
        burst: 300,
        tenantMultiple: 5,
        failedJoinsPerMinute: 5,
        failedSignInsPerMinute: 5,
      },
      reservedNames: ['etcd', 'holdfast-etcd'],
      volumes: {
        enabled: false,
        promotion: { silentSeconds: 12, apartSeconds: 60, maxLagSeconds: 60 },
      },
      upgrade: { finalize: 'auto' },
      ui: { enabled: true },
      metrics: { open: false },
      log: { level: 'info' },
      liveness: {
        heartbeatSeconds: 10,
        unreachableSeconds: 40,
        failedSeconds: 120,
        engineSilentSeconds: 30,
        massWindowSeconds: 60,
        massHoldSeconds: 600,
      },
      scaling: { roundSeconds: 30, meanSeconds: 60 },
      retention: {
        archiveRevisions: 50,
        events: { days: 30, max: 10_000, bytes: 8_388_608 },
        audit: { days: 30, max: 10_000 },
        idempotencyHours: 24,
      },
    })
    expect(etcd).toEqual({
      endpoints: ['http://127.0.0.1:2379'],
      root: '/hf',
      quotaBytes: 2_147_483_648,
      defragmentation: {
        enabled: true,
        freePercent: 40,
        minimumBytes: 67_108_864,
        intervalSeconds: 3600,
      },
    })
    expect(secretsStore.api?.secretId.reveal()).toBe('api-secret')
    expect(secretsStore.broker?.secretId.reveal()).toBe('broker-secret')
    expect(Object.keys(residency.regions)).toEqual(['eu', 'eea', 'dach', 'nordics', 'na', 'apac'])
    expect(residency.regions.eu).toHaveLength(27)
    expect(residency.regions.eea).toHaveLength(30)
    expect(limits).toMatchObject({
      maxReplicasPerDeployment: 100,
      environmentBytes: 262_144,
      bodyBytes: 1_048_576,
    })
    expect(limits).toMatchObject({
      bodyDepth: 32,
      headerBytes: 16_384,
      dependsOn: 16,
      volumes: 16,
      secrets: 32,
    })
    const { deployments, volume_bytes, stored_bytes } = quotas
    expect([deployments, volume_bytes, stored_bytes]).toEqual([200, 1_099_511_627_776, 16_777_216])
  })

  test('has limits of the type that admission accepts', () => {
    const limits: Limits = valid(`${MINIMAL}limits: { dependsOn: 3 }\n`).config.limits
    expect(limits.dependsOn).toBe(3)
  })

  test('treats an empty section as absent', () => {
    expect(valid(`${MINIMAL}metrics:\nlimits:\n`).config.metrics).toEqual({ open: false })
  })

  test('adds reserved names to those of the platform', () => {
    const { reservedNames } = valid(`${MINIMAL}reservedNames: [bastion, etcd]\n`).config
    expect(reservedNames).toEqual(['etcd', 'holdfast-etcd', 'bastion'])
  })

  test('replaces the built-in region of the same name and keeps the others', () => {
    const { regions } = valid(`${MINIMAL}residency: { regions: { dach: [DE, AT, CH, LI], home: [LU] } }\n`)
      .config.residency
    expect([regions.dach, regions.home, regions.nordics?.length]).toEqual([
      ['DE', 'AT', 'CH', 'LI'],
      ['LU'],
      5,
    ])
  })

  test('derives publicUrl from listen, with brackets around IPv6', () => {
    expect(valid(`${MINIMAL}listen: { port: 9000 }\n`).config.publicUrl).toBe('http://127.0.0.1:9000')
    expect(valid(`${MINIMAL}listen: { host: '::1' }\n`).config.publicUrl).toBe('http://[::1]:8080')
  })

  test('needs no identity in the secrets store for a gateway alone', () => {
    const text = `roles: [gateway]\netcd: { endpoints: [http://e:2379] }\nsecretsStore: { address: https://bao:8200 }\n${CLUSTER}`
    expect(valid(text).config.secretsStore).toEqual({ address: 'https://bao:8200', secretIdDays: 90 })
  })

  test('needs no identities while they are still to be issued', () => {
    const text = 'etcd: { endpoints: [http://e:2379] }\nsecretsStore: { address: https://bao:8200 }\n'
    expect(load(text).ok).toBe(false)
    expect(load(text, { identities: 'to be issued' }).ok).toBe(true)
  })

  test('copies the defaults, so that changing one configuration does not change the next', () => {
    valid(MINIMAL).config.residency.regions.eu?.pop()
    valid(MINIMAL).config.registries.push({ host: 'a.example' })
    expect(valid(MINIMAL).config.residency.regions.eu).toHaveLength(27)
    expect(valid(MINIMAL).config.registries).toEqual([])
  })

  test('comes from the environment alone when there is no file', () => {
    const loaded = loadConfig({
      env: {
        HOLDFAST_ROLES: 'gateway',
        HOLDFAST_ETCD_ENDPOINTS: 'http://a:2379, http://b:2379',
        HOLDFAST_SECRETS_STORE_ADDRESS: 'http://bao:8200',
        HOLDFAST_CLUSTER_KEY: 'a-key-of-at-least-thirty-two-characters',
      },
    })
    expect(loaded.ok && loaded.config.etcd.endpoints).toEqual(['http://a:2379', 'http://b:2379'])
  })
})

describe('a configuration fault', () => {
  const added: readonly (readonly [text: string, fault: string, received: string])[] = [
    ['listen: { port: 0 }', `range listen.port @ hf.yaml:${NEXT}:17`, '0'],
    ['listen: { port: 65536 }', `range listen.port @ hf.yaml:${NEXT}:17`, '65536'],
    ['listen: { port: "8080" }', `type listen.port @ hf.yaml:${NEXT}:17`, '8080'],
    ['listen: { port: 80.5 }', `type listen.port @ hf.yaml:${NEXT}:17`, '80.5'],
    ['listen: { host: 1.2.3 4 }', `form listen.host @ hf.yaml:${NEXT}:17`, '1.2.3 4'],
    ['listen: 8080', `type listen @ hf.yaml:${NEXT}:9`, '8080'],
    ['listen: { host: 0.0.0.0 }', `missing publicUrl @ hf.yaml:${NEXT}:17`, ''],
    ['listen:\n  prot: 1', `unknown listen.prot @ hf.yaml:${NEXT + 1}:3`, REDACTED],
    ['publicUrl: holdfast.example', `form publicUrl @ hf.yaml:${NEXT}:12`, 'holdfast.example'],
    ['publicUrl: https://a.example/', `form publicUrl @ hf.yaml:${NEXT}:12`, 'https://a.example/'],
    ['publicUrl: ftp://a.example', `form publicUrl @ hf.yaml:${NEXT}:12`, 'ftp://a.example'],
    ['publicUrl: https://a.example:99999', `form publicUrl @ hf.yaml:${NEXT}:12`, 'https://a.example:99999'],
    ['publicUrl: https://u:p@a.example', `form publicUrl @ hf.yaml:${NEXT}:12`, REDACTED],
    ['publicUrl:', `type publicUrl @ hf.yaml:${NEXT}:11`, 'null'],
    ['nodeName: Node_1', `form nodeName @ hf.yaml:${NEXT}:11`, 'Node_1'],
    ['roles: []', `range roles @ hf.yaml:${NEXT}:8`, '[]'],
    ['roles: [api, brokr]', `form roles[1] @ hf.yaml:${NEXT}:14`, 'brokr'],
    ['roles: [api, api]', `duplicate roles[1] @ hf.yaml:${NEXT}:14`, 'api'],
    ['roles: api', `type roles @ hf.yaml:${NEXT}:8`, 'api'],
    [
      'secrets: { namespaces: [registries] }',
      `form secrets.namespaces[0] @ hf.yaml:${NEXT}:25`,
      'registries',
    ],
    ['secrets: { namespaces: [A_b] }', `form secrets.namespaces[0] @ hf.yaml:${NEXT}:25`, 'A_b'],
    ['reservedNames: [-x]', `form reservedNames[0] @ hf.yaml:${NEXT}:17`, '-x'],
    [
      'registries: [{ host: "https://r.example" }]',
      `form registries[0].host @ hf.yaml:${NEXT}:22`,
      'https://r.example',
    ],
    ['registries: [{ host: u:p@r.example }]', `form registries[0].host @ hf.yaml:${NEXT}:22`, REDACTED],
    ['registries: [{ host: 10.0.0.1 }]', `conflict registries[0].host @ hf.yaml:${NEXT}:22`, '10.0.0.1'],
    [
      'registries: [{ host: 169.254.169.254, allowAddress: true }]',
      `form registries[0].host @ hf.yaml:${NEXT}:22`,
      '169.254.169.254',
    ],
    [
      'registries: [{ host: "[::1]:5000" }]',
      `conflict registries[0].host @ hf.yaml:${NEXT}:22`,
      '[::1]:5000',
    ],
    ['registries: [{ plainHttp: true }]', `missing registries[0].host @ hf.yaml:${NEXT}:14`, ''],
    ['registries: [{ host: a.b, hots: c }]', `unknown registries[0].hots @ hf.yaml:${NEXT}:27`, REDACTED],
    [
      'registries: [{ host: a.b }, { host: "A.b:443" }]',
      `duplicate registries[1].host @ hf.yaml:${NEXT}:37`,
      'A.b:443',
    ],
    [
      'registries: [{ host: a.b, tokenRealms: [/x] }]',
      `form registries[0].tokenRealms[0] @ hf.yaml:${NEXT}:41`,
      '/x',
    ],
    ['registries: [{ host: a.b, ca: here.pem }]', `form registries[0].ca @ hf.yaml:${NEXT}:31`, 'here.pem'],
    ['residency: { enforcement: yes }', `type residency.enforcement @ hf.yaml:${NEXT}:27`, 'yes'],
    ['residency: { regions: { eu: [] } }', `range residency.regions.eu @ hf.yaml:${NEXT}:29`, '[]'],
    ['residency: { regions: { x: [de] } }', `form residency.regions.x[0] @ hf.yaml:${NEXT}:29`, 'de'],
    [
      'residency: { regions: { x: [DE, DE] } }',
      `duplicate residency.regions.x[1] @ hf.yaml:${NEXT}:33`,
      'DE',
    ],
    ['residency: { regions: { X: [DE] } }', `form residency.regions.X @ hf.yaml:${NEXT}:25`, 'X'],
    ['residency: { regions: { x: DE } }', `type residency.regions.x @ hf.yaml:${NEXT}:28`, 'DE'],
    ['limits: { dependsOn: -1 }', `range limits.dependsOn @ hf.yaml:${NEXT}:22`, '-1'],
    ['limits: { nameCharacters: 64 }', `range limits.nameCharacters @ hf.yaml:${NEXT}:27`, '64'],
    ['limits: { bodyBytes: 1048577 }', `range limits.bodyBytes @ hf.yaml:${NEXT}:22`, '1048577'],
    [
      'limits: { healthCheckRetriesFloor: 2 }',
      `range limits.healthCheckRetriesFloor @ hf.yaml:${NEXT}:36`,
      '2',
    ],
    ['quotas: { nodes: -5 }', `range quotas.nodes @ hf.yaml:${NEXT}:18`, '-5'],
    ['quotas: { nodes: 1e400 }', `type quotas.nodes @ hf.yaml:${NEXT}:18`, 'null'],
    ['quotas: { volumeBytes: 5 }', `unknown quotas.volumeBytes @ hf.yaml:${NEXT}:11`, REDACTED],
    ['rates: { burst: 0 }', `range rates.burst @ hf.yaml:${NEXT}:17`, '0'],
    [
      'liveness: { unreachableSeconds: 29 }',
      `conflict liveness.unreachableSeconds @ hf.yaml:${NEXT}:33`,
      '29',
    ],
    [
      'limits: { generateBytesMin: 64, generateBytesMax: 32 }',
      `conflict limits.generateBytesMax @ hf.yaml:${NEXT}:51`,
      '32',
    ],
    ['liveness: { failedSeconds: 40 }', `conflict liveness.failedSeconds @ hf.yaml:${NEXT}:28`, '40'],
    ['retention: { events: { days: 0 } }', `range retention.events.days @ hf.yaml:${NEXT}:30`, '0'],
    ['log: { level: inof }', `form log.level @ hf.yaml:${NEXT}:15`, 'inof'],
    ['metrics: { open: 1 }', `type metrics.open @ hf.yaml:${NEXT}:18`, '1'],
    ['__proto__: { polluted: true }', `unknown __proto__ @ hf.yaml:${NEXT}:1`, REDACTED],
    ['constructor: 1', `unknown constructor @ hf.yaml:${NEXT}:1`, REDACTED],
    ['log: { level: info, level: warn }', `duplicate log.level @ hf.yaml:${NEXT}:21`, ''],
    ['etcd: { root: /x }', `duplicate etcd @ hf.yaml:${NEXT}:1`, ''],
    ['log: { level: &a info }\nnodeName: *a', `alias nodeName @ hf.yaml:${NEXT + 1}:11`, REDACTED],
    ['nodeName: !env HOME', `tag nodeName @ hf.yaml:${NEXT}:16`, REDACTED],
    ['? [a, b]\n: 1', `syntax  @ hf.yaml:${NEXT}:3`, ''],
  ]
  test.each(added)('%s', (text, fault, received) => {
    const loaded = load(`${MINIMAL}${text}\n`)
    expect(faultLines(loaded)).toEqual([fault])
    expect(faultsOf(loaded)[0]?.received).toBe(received)
  })

  const store =
    'secretsStore: { address: "http://b:8200", api: { roleId: a, secretId: s }, broker: { roleId: b, secretId: s } }\n'
  const complete: readonly (readonly [text: string, fault: string])[] = [
    [store, 'missing etcd.endpoints @ hf.yaml'],
    [`etcd:\n  root: /hf\n${store}`, 'missing etcd.endpoints @ hf.yaml:1:1'],
    [`etcd: { endpoints: [] }\n${store}`, 'range etcd.endpoints @ hf.yaml:1:20'],
    [`etcd: { endpoints: ["127.0.0.1:2379"] }\n${store}`, 'form etcd.endpoints[0] @ hf.yaml:1:21'],
    [
      `etcd: { endpoints: ["http://a:1", "http://a:1"] }\n${store}`,
      'duplicate etcd.endpoints[1] @ hf.yaml:1:35',
    ],
    [
      `etcd: { endpoints: ["http://a:1", "https://b:1"] }\n${store}`,
      'conflict etcd.endpoints[1] @ hf.yaml:1:35',
    ],
    [
      `etcd: { endpoints: ["http://a:1"], tls: { ca: /ca } }\n${store}`,
      'conflict etcd.endpoints[0] @ hf.yaml:1:21',
    ],
    [
      `etcd: { endpoints: ["https://a:1"], tls: { cert: /c } }\n${store}`,
      'missing etcd.tls.key @ hf.yaml:1:50',
    ],
    [`etcd: { endpoints: ["http://a:1"], root: hf/ }\n${store}`, 'form etcd.root @ hf.yaml:1:42'],
    [`etcd: { endpoints: ["http://a:1"], username: u }\n${store}`, 'missing etcd.password @ hf.yaml:1:46'],
    [`etcd: { endpoints: ["http://a:1"], password: u }\n${store}`, 'missing etcd.username @ hf.yaml:1:46'],
    [`etcd: { endpoints: ["http://a:1"], quotaBytes: 5 }\n${store}`, 'range etcd.quotaBytes @ hf.yaml:1:48'],
    [
      `roles: [gateway]\netcd: { endpoints: ["http://a:1"] }\n${CLUSTER}`,
      'missing secretsStore.address @ hf.yaml',
    ],
    [
      `etcd: { endpoints: ["http://a:1"] }\nroles: [api]\nsecretsStore: { address: "http://b:8200" }\n${CLUSTER}`,
      'missing secretsStore.api @ hf.yaml:3:1',
    ],
    [
      `etcd: { endpoints: ["http://a:1"] }\nroles: [controllers]\nsecretsStore: { address: "http://b:8200" }\n${CLUSTER}`,
      'missing secretsStore.api @ hf.yaml:3:1',
    ],
    [
      `etcd: { endpoints: ["http://a:1"] }\nroles: [broker]\nsecretsStore: { address: "http://b:8200" }\n${CLUSTER}`,
      'missing secretsStore.broker @ hf.yaml:3:1',
    ],
    [`${MINIMAL}roles: [api, gateway]\n`, `missing cluster.key @ hf.yaml:${NEXT}:8`],
    [`${MINIMAL}roles: [broker]\n`, `missing cluster.key @ hf.yaml:${NEXT}:8`],
    [MINIMAL.replace(', secretId: api-secret', ''), 'missing secretsStore.api.secretId @ hf.yaml:5:3'],
    [MINIMAL.replace('broker-role', 'api-role'), 'conflict secretsStore.broker.roleId @ hf.yaml:6:21'],
    [MINIMAL.replace('  api:', '  ca: /ca\n  api:'), 'conflict secretsStore.ca @ hf.yaml:5:7'],
    [
      MINIMAL.replace('secretId: api-secret', 'secretId: ""'),
      'form secretsStore.api.secretId @ hf.yaml:5:38',
    ],
    [
      MINIMAL.replace('secretId: api-secret', 'secretId: 12'),
      'type secretsStore.api.secretId @ hf.yaml:5:38',
    ],
    ['- a', 'type  @ hf.yaml:1:1'],
    ['just text', 'type  @ hf.yaml:1:1'],
    ['a: [1', 'syntax  @ hf.yaml:1:6'],
    ['a:\n\t- b', 'syntax  @ hf.yaml:2:1'],
    ['a: 1\n---\nb: 2', 'syntax  @ hf.yaml:2:1'],
    [' '.repeat(1024 * 1024 + 1), 'syntax  @ hf.yaml:1:1'],
  ]
  test.each(complete.map(([text, fault]) => ({ text, fault })))('$fault', ({ text, fault }) => {
    expect(faultLines(load(text))).toEqual([fault])
  })

  test('reports nesting beyond the stack instead of crashing', () => {
    const [fault] = faultLines(load('['.repeat(20_000)))
    expect(fault).toMatch(/^syntax {2}@ hf\.yaml:1:\d+$/)
  })

  test('rejects each alias of an alias bomb without expanding it', () => {
    const levels = Array.from(
      { length: 30 },
      (_, n) => `l${n + 1}: &l${n + 1} [${`*l${n}, `.repeat(9)}*l${n}]`,
    )
    const loaded = load(`l0: &l0 [x]\n${levels.join('\n')}\n${MINIMAL}`)
    expect(faultLines(loaded).filter((fault) => fault.startsWith('alias'))).toHaveLength(300)
  })

  test('rejects a %YAML directive, which could change the meaning of words', () => {
    expect(faultLines(load(`%YAML 1.1\n---\n${MINIMAL}metrics: { open: yes }\n`))).toEqual([
      'syntax  @ hf.yaml:1:1',
    ])
  })
})

describe('the suggested name', () => {
  test.each([
    ['lisen: { port: 1 }', 'listen'],
    ['listen: { prot: 1 }', 'port'],
    ['port: 1', 'listen.port'],
    ['limits: { maxReplicaPerDeployment: 1 }', 'maxReplicasPerDeployment'],
    ['log: { level: inof }', 'info'],
    ['zzz: 1', undefined],
  ])('%s -> %s', (text, suggestion) => {
    expect(faultsOf(load(`${MINIMAL}${text}\n`))[0]?.suggestion).toBe(suggestion)
  })
})

test('reports all configuration faults at once, the file from top to bottom, then the environment', () => {
  const text = `listen:
  host: "somewhere else"
  port: 70000
pubicUrl: https://api.example
roles: [api, brokr]
etcd:
  endpoints: []
  username: holdfast
  pasword: hunter2
secretsStore:
  address: bao.example
  api: { roleId: r, secretId: 12345 }
registries:
  - host: https://registry.example
  - host: 10.1.2.3
log: { level: loud, level: info }
limits:
  dependsOn: many
`
  const env = { HOLDFAST_RATES_BURST: 'lots', HOLDFAST_ETCD_PASWORD: 'hunter2', HOLDFAST_LISTEN_PORT: '0' }
  const lines = faultsOf(load(text, { env })).map(explainFault)
  expect(lines).toEqual([
    'hf.yaml:2:9: listen.host: received somewhere else, expected an IPv4 or IPv6 address, or a host name in lower case',
    expect.stringMatching(
      /^hf\.yaml:4:1: pubicUrl: received <redacted>, expected one of .*; did you mean publicUrl\?$/,
    ),
    'hf.yaml:5:14: roles[1]: received brokr, expected one of api, controllers, gateway, broker; did you mean broker?',
    'hf.yaml:7:14: etcd.endpoints: received [], expected a list of at least 1',
    'hf.yaml:8:13: etcd.password: expected a value, because etcd.username is set',
    expect.stringMatching(/^hf\.yaml:9:3: etcd\.pasword: received <redacted>, .*; did you mean password\?$/),
    'hf.yaml:11:12: secretsStore.address: received bao.example, expected http://host:port or https://host:port, without user, path, query or a slash at the end',
    'hf.yaml:12:31: secretsStore.api.secretId: received <redacted>, expected a string',
    'hf.yaml:14:11: registries[0].host: received https://registry.example, expected host or host:port (default port 443), without scheme, user or path',
    'hf.yaml:15:11: registries[1].host: received 10.1.2.3, expected a host name, or allowAddress: true in this entry',
    'hf.yaml:16:21: log.level: expected each name only once',
    'hf.yaml:18:14: limits.dependsOn: received many, expected a whole number',
    'HOLDFAST_ETCD_PASWORD: received <redacted>, expected a variable of a setting: HOLDFAST_ and its path; did you mean HOLDFAST_ETCD_PASSWORD?',
    'HOLDFAST_LISTEN_PORT: listen.port: received 0, expected a whole number from 1 to 65535',
    'HOLDFAST_RATES_BURST: rates.burst: received lots, expected a whole number',
  ])
})

test('checks the environment even when the file cannot be parsed', () => {
  const env = { HOLDFAST_LISTEN_PORT: '0', HOLDFAST_ETCD_USERNAME: 'u', HOLDFAST_NO: '' }
  expect(faultLines(load('a: [', { env }))).toEqual([
    'syntax  @ hf.yaml:1:5',
    'range listen.port @ HOLDFAST_LISTEN_PORT',
    'unknown  @ HOLDFAST_NO',
  ])
})
