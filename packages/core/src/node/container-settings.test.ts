// Tests that no deployment or template can give a container more privileges than the fixed settings allow, and that any
// unsafe change of a setting is detected.

import type { JsonObject } from '@holdfast/contract'
import { arbitraryDeployment } from '@holdfast/testkit/arbitrary-deployment'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DIGEST, forCreate, IMAGE } from '../admission/admission.fixture.ts'
import { admitDeployment } from '../admission/admit-deployment.ts'
import { findItemFault } from './check-item.ts'
import {
  type CreateBody,
  containerNetworks,
  containerSettings,
  needsEnvironment,
  tenantNetwork,
} from './container-settings.ts'
import { containerTemplate } from './container-template.ts'
import { anItem, PINNED, PLACES, TENANT } from './node-items.fixture.ts'
import { findDangers, findUnsafeSettings, type InspectedSettings, ownParts } from './unsafe-settings.ts'

const NETWORK = tenantNetwork(TENANT)
const OWN = ownParts(anItem('A').template, [NETWORK], PLACES)
const unsafeOf = (found: InspectedSettings): string[] => findUnsafeSettings(found, OWN)

function settingsOf(sent: JsonObject): CreateBody {
  const verdict = admitDeployment(sent, forCreate())
  if (!verdict.accepted) throw new Error(`rejected: ${JSON.stringify(verdict.rejections)}`)
  const item = { ...anItem('A'), template: containerTemplate(verdict.spec, DIGEST) }
  expect(findItemFault(item)).toBeUndefined()
  const resolved = { environment: item.template.environment, proof: 'p' }
  return containerSettings(item, TENANT, undefined, needsEnvironment(item) ? resolved : undefined)
}

const KEYS = ['Image', 'Entrypoint', 'Cmd', 'Env', 'Labels', 'Healthcheck', 'Shell', 'StopTimeout']
const ALLOWED_KEYS = [...KEYS, 'HostConfig', 'NetworkingConfig']

test('every accepted deployment yields settings in the safe set', { timeout: 120_000 }, () => {
  fc.assert(
    fc.property(arbitraryDeployment({ images: [IMAGE] }), (sent) => {
      const body = settingsOf(sent)
      expect(unsafeOf(body)).toEqual([])
      expect(Object.keys(body).filter((key) => !ALLOWED_KEYS.includes(key))).toEqual([])
      expect(body.Labels['holdfast.io/tenant']).toBe(TENANT)
    }),
    { numRuns: 2000 },
  )
})

describe('a container with networks of its own', () => {
  const item = anItem('A', 'running', { name: 'web', networks: ['front', 'back'] })
  const [first, second] = containerNetworks(item.template, TENANT)
  const own = ownParts(item.template, containerNetworks(item.template, TENANT), PLACES)
  const body = containerSettings(item, TENANT, '10.208.4.2')

  test('is created on the first of them, by its name and at its address, and not on the shared one', () => {
    expect(body.HostConfig.NetworkMode).toBe(first)
    expect(body.NetworkingConfig.EndpointsConfig).toEqual({
      [first]: { Aliases: ['web'], IPAMConfig: { IPv4Address: '10.208.4.2' } },
    })
    expect(findUnsafeSettings(body, own)).toEqual([])
    expect(findItemFault(item)).toBeUndefined()
  })

  test('is unsafe on any other network', () => {
    const on = (...names: (string | undefined)[]) => ({
      ...body,
      NetworkSettings: { Networks: Object.fromEntries(names.map((name) => [name, {}])) },
    })
    expect(findUnsafeSettings(on(first, second), own)).toEqual([])
    expect(findUnsafeSettings(on(first, NETWORK), own)).toEqual(['Networks'])
    expect(unsafeOf(body)).toEqual(['NetworkMode'])
  })

  test('is refused if a network has no valid name', () => {
    expect(findItemFault(anItem('A', 'running', { networks: ['../host'] }))).toContain('network')
  })
})

describe('a container with secrets', () => {
  const secrets = [{ name: 'DB', namespace: 'resources', label: 'db', version: 1 }]
  const environment = { MODE: 'fast', DB_key: 'a=b\nc' }

  test.each([{ secrets }, { composedEnvironment: { URL: '{{secret.db.key}}' } }])(
    'is created with exactly the resolved environment',
    (template) => {
      const item = anItem('A', 'running', { ...template, environment: { MODE: 'slow' } })
      const body = containerSettings(item, TENANT, undefined, { environment, proof: 'proof-1' })
      expect(body.Env).toEqual(['MODE=fast', 'DB_key=a=b\nc'])
      expect(body.Labels['holdfast.io/proof']).toBe('proof-1')
      expect(unsafeOf(body)).toEqual([])
      expect(() => containerSettings(item, TENANT)).toThrow('not resolved')
    },
  )
  test('differs from a container without secrets only in environment and proof label', () => {
    const { Env: _env, Labels: _labels, ...plain } = containerSettings(anItem('A'), TENANT)
    const item = anItem('A', 'running', { secrets })
    const withSecrets = containerSettings(item, TENANT, undefined, { environment, proof: 'p' })
    expect(withSecrets).toMatchObject(plain)
    expect(Object.keys(withSecrets).filter((key) => !ALLOWED_KEYS.includes(key))).toEqual([])
    expect(containerSettings(anItem('A'), TENANT).Labels).not.toHaveProperty('holdfast.io/proof')
  })
})

/** The part of Docker's inspect response for a Holdfast container that these tests read. */
const inspected = () => ({
  HostConfig: {
    ...containerSettings(anItem('A'), TENANT).HostConfig,
    Binds: null,
    Privileged: false,
    PortBindings: {},
    Devices: [],
    PidMode: '',
    UTSMode: '',
    UsernsMode: '',
    CgroupnsMode: 'host',
    ShmSize: 67_108_864,
    Runtime: 'runc',
    ConsoleSize: [0, 0],
    MaskedPaths: ['/proc/kcore', '/proc/keys', '/proc/timer_list', '/sys/firmware', '/proc/acpi'],
    ReadonlyPaths: ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'],
  },
  Mounts: [],
  NetworkSettings: { Networks: { [NETWORK]: {} } },
})

const MUTATIONS: readonly [string, unknown][] = [
  ['Privileged', true],
  ['Binds', ['/:/host']],
  ['Mounts', [{ Type: 'bind', Source: '/' }]],
  ['VolumesFrom', ['other']],
  ['CapAdd', ['SYS_ADMIN']],
  ['CapAdd', ['ALL']],
  ['CapDrop', []],
  ['CapDrop', null],
  ['SecurityOpt', []],
  ['SecurityOpt', null],
  ['SecurityOpt', ['no-new-privileges', 'seccomp=unconfined']],
  ['SecurityOpt', ['no-new-privileges', 'apparmor=unconfined']],
  ['NetworkMode', 'host'],
  ['NetworkMode', 'bridge'],
  ['NetworkMode', 'container:abc'],
  ['PidMode', 'host'],
  ['IpcMode', 'host'],
  ['IpcMode', 'shareable'],
  ['UTSMode', 'host'],
  ['UsernsMode', 'host'],
  ['CgroupParent', '/docker'],
  ['CgroupnsMode', 'container:x'],
  ['Devices', [{ PathOnHost: '/dev/sda' }]],
  ['DeviceCgroupRules', ['a *:* rwm']],
  ['DeviceRequests', [{ Count: -1 }]],
  ['Sysctls', { 'net.ipv4.ip_forward': '1' }],
  ['PidsLimit', 0],
  ['PidsLimit', -1],
  ['PidsLimit', null],
  ['PidsLimit', 100_000],
  ['PortBindings', { '80/tcp': [{ HostPort: '80' }] }],
  ['PublishAllPorts', true],
  ['ExtraHosts', ['metadata:169.254.169.254']],
  ['Dns', ['10.0.0.1']],
  ['GroupAdd', ['docker']],
  ['OomScoreAdj', -1000],
  ['OomKillDisable', true],
  ['Runtime', 'evil'],
  ['MaskedPaths', []],
  ['MaskedPaths', null],
  ['ReadonlyPaths', []],
  ['LogConfig', { Type: 'none', Config: {} }],
  ['LogConfig', { Type: 'json-file', Config: {} }],
  ['RestartPolicy', { Name: 'always' }],
  ['AutoRemove', true],
  ['SomethingNew', 'on'],
]

describe('findUnsafeSettings', () => {
  test("accepts the engine's inspect answer for a container created by the agent", () => {
    expect(unsafeOf(inspected())).toEqual([])
  })

  test.each(MUTATIONS)('finds %s %j', (name, value) => {
    const { HostConfig, ...rest } = inspected()
    expect(unsafeOf({ ...rest, HostConfig: { ...HostConfig, [name]: value } })).toEqual([name])
  })

  test('classes as danger only settings that reach beyond the container', () => {
    const { HostConfig, ...rest } = inspected()
    const isHarmless = ([name, value]: readonly [string, unknown]): boolean =>
      findDangers({ ...rest, HostConfig: { ...HostConfig, [name]: value } }, OWN).length === 0
    expect([...new Set(MUTATIONS.filter(isHarmless).map(([name]) => name))]).toEqual([
      'CgroupParent',
      'PidsLimit',
      'PortBindings',
      'PublishAllPorts',
      'ExtraHosts',
      'Dns',
      'GroupAdd',
      'OomScoreAdj',
      'OomKillDisable',
      'Runtime',
      'LogConfig',
      'RestartPolicy',
      'AutoRemove',
      'SomethingNew',
    ])
  })

  test('finds a second network and a mount, but accepts a volume that the image declares', () => {
    const base = inspected()
    const volume = { Type: 'volume', Driver: 'local', Name: 'a'.repeat(64) }
    const find = (over: object) => unsafeOf({ ...base, ...over })
    expect(find({ NetworkSettings: { Networks: { [NETWORK]: {}, bridge: {} } } })).toEqual(['Networks'])
    expect(find({ Mounts: [{ Type: 'bind', Source: '/etc' }] })).toEqual(['Mounts'])
    expect(find({ Mounts: [{ ...volume, Name: 'shared' }] })).toEqual(['Mounts'])
    expect(find({ Mounts: [volume] })).toEqual([])
  })
})

describe('containerSettings', () => {
  const settings = (template: Parameters<typeof anItem>[2]) =>
    containerSettings(anItem('A', 'running', template), TENANT)
  const check = { type: 'exec', command: ['nc -z localhost 80'], interval: '30s', startPeriod: '0s' }

  test('runs a health check of one element in a shell and one of several directly', () => {
    expect(settings({ healthCheck: check }).Healthcheck.Test).toEqual(['CMD-SHELL', 'nc -z localhost 80'])
    const { Test } = settings({ healthCheck: { ...check, command: ['nc', '-z'] } }).Healthcheck
    expect(Test).toEqual(['CMD', 'nc', '-z'])
  })

  test('sets every number of a health check, so none is inherited from the image', () => {
    expect(settings({ healthCheck: check }).Healthcheck).toEqual({
      Test: ['CMD-SHELL', 'nc -z localhost 80'],
      Interval: 30e9,
      Timeout: 30e9,
      Retries: 3,
      StartPeriod: 1e6,
    })
    const own = { ...check, timeout: '12s', retries: 5, startPeriod: '1m' }
    expect(settings({ healthCheck: own }).Healthcheck).toMatchObject({
      Timeout: 12e9,
      Retries: 5,
      StartPeriod: 6e10,
    })
  })

  test("disables the image's own health check", () => {
    expect(settings({}).Healthcheck).toEqual({ Test: ['NONE'] })
  })

  test.each([
    [1500, { CpuPeriod: 100_000, CpuQuota: 150_000 }],
    [10, { CpuPeriod: 100_000, CpuQuota: 1000 }],
    [3, { CpuPeriod: 1_000_000, CpuQuota: 3000 }],
    [0, {}],
  ])('limits the CPU to %d thousandths of a core', (cpuMillis, expected) => {
    const { CpuPeriod, CpuQuota } = settings({ limits: { cpuMillis } }).HostConfig
    expect({ CpuPeriod, CpuQuota }).toEqual({ CpuPeriod: undefined, CpuQuota: undefined, ...expected })
  })

  test("lets Holdfast's labels override those of the template", () => {
    const { Labels } = settings({ labels: { 'holdfast.io/tenant': 'other', team: 'a' } })
    expect(Labels).toMatchObject({
      'holdfast.io/tenant': TENANT,
      'holdfast.io/assignment': 'rep_A',
      team: 'a',
    })
  })
})

test.each([
  ['an upper-case name', { name: 'Web' }],
  ['a name with a path', { name: '../x' }],
  ['an image by tag', { image: 'registry.example.com/shop/web:1' }],
  ['an image with a truncated digest', { image: `${PINNED.slice(0, -1)}` }],
  ["one of Holdfast's labels", { labels: { 'Holdfast.io/tenant': 'x' } }],
  ["one of Docker's labels", { labels: { 'com.docker.x': 'x' } }],
])('the agent rejects an item with %s', (_, template) => {
  expect(findItemFault(anItem('A', 'running', template))).toBeDefined()
})
