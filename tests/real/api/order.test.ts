// The order in which faults of a request are rejected is part of the API: responses are compared with a golden file, and
// a change of that file is a change of the API.

import type { ApiAnswer } from '@holdfast/testkit/platform/api-client'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import {
  BOUND_LABEL,
  bodyWith,
  prepareWorld,
  provoke,
  type Sent,
  TAKEN_ROUTE,
  type World,
} from '@holdfast/testkit/provocations/provoke'
import { afterAll, beforeAll, expect, test } from 'vitest'

let world: World
beforeAll(async () => {
  world = await prepareWorld(await ownPlatform())
})
afterAll(() => world.platform.stop())

const POST = '/api/v1/deployments'
const TOO_LARGE = `[${'"",'.repeat(400_000)}`

/** Requests that each have faults of two adjacent validation phases; only the earlier phase must be reported. */
const PHASES: readonly [string, Sent | ((world: World) => Sent)][] = [
  ['authentication before path', { as: 'forged', path: '/api/v1/nowhere', body: {} }],
  ['authentication before method', { as: 'anonymous', method: 'PATCH', path: POST, body: {} }],
  ['path before headers', { path: '/api/v1/nowhere', body: {}, headers: { 'x-tenant-id': 'acme' } }],
  ['method before headers', { method: 'PATCH', path: POST, body: {}, headers: { 'x-tenant-id': 'acme' } }],
  [
    'tenant of the path before headers',
    ({ platform }) => ({
      path: `/api/v1/tenants/${platform.globex.id}/tokens`,
      body: {},
      headers: { 'x-tenant-id': 'acme' },
    }),
  ],
  ['headers before role', { as: 'viewer', body: {}, headers: { 'content-type': 'text/plain' } }],
  [
    'tenant of the header before role',
    ({ platform }) => ({ as: 'viewer', body: {}, headers: { 'x-tenant-id': platform.globex.id } }),
  ],
  ['role before query', { as: 'viewer', path: `${POST}?colour=red`, body: {} }],
  ['query before size', { path: `${POST}?dryRun=yes`, body: TOO_LARGE }],
  ['size before syntax', { body: TOO_LARGE }],
  ['syntax before the body', { body: '{"kind":"Deployment","name":"!","replicas":-1,}' }],
  ['kind alone', { body: { kind: 'Job', name: '!', replicas: -1, colour: 'red' } }],
  [
    'fields forbidden for the role before unknown fields',
    ({ platform }) => ({
      path: `/api/v1/tenants/${platform.acme.id}/tokens`,
      body: { colour: 'red', role: 'platform-admin', name: '' },
    }),
  ],
  [
    'material forbidden for the role before unknown fields',
    (w) => ({
      as: 'developer',
      body: bodyWith(w, {
        colour: 'red',
        secrets: [{ name: '!', vault_path: 'resources/db', values: { a: 'x' }, generate: { keys: ['b'] } }],
      }),
    }),
  ],
  [
    'unknown and read-only fields before fields',
    (w) => ({ body: bodyWith(w, { replicas: -1, uid: 'dep_x', colour: 'red', name: '!' }) }),
  ],
  [
    'revision before checks against the store',
    () => ({
      method: 'PUT',
      path: `${POST}/web`,
      body: { dependsOn: { missing: 'started' } },
      headers: { 'if-match': '"9"' },
    }),
  ],
]

const BODIES: readonly [string, (world: World) => Sent][] = [
  [
    'five faults',
    (w) => ({
      body: bodyWith(w, {
        stopGracePeriod: 'soon',
        healthCheck: { type: 'exec', command: ['curl', '-f', 'http://localhost/'], timeout: '1s' },
        replicas: -1,
        colour: 'red',
        image: 'registry.example/shop/web:1.0',
      }),
    }),
  ],
  [
    'every field, in the documented order for any order sent',
    () => ({
      body: {
        stopGracePeriod: 1,
        args: 1,
        command: 1,
        labels: 1,
        routes: [{ port: 0, path: 'x', host: 'A' }],
        composedEnvironment: { 'b-': 'x', A: '', B: '{{', C: 'constant' },
        update: { order: 'x', parallelism: 0, failureAction: 'x', progressDeadline: '0s' },
        limits: { cpuMillis: -1 },
        resources: { memoryBytes: 0.5, cpuMillis: -1 },
        dependsOn: { 'B!': 'healthy', web: 'soon' },
        placement: {
          spread: '!',
          affinity: ['ok', 'No'],
          constraints: [{ label: '!', operator: 'x' }],
          residency: { blockedCountries: ['us', 'US', 'US'], region: 'moon', country: 'Germany' },
        },
        volumes: [{ target: 'x' }],
        secretsVersion: -1,
        secrets: [
          {
            generate: { charset: 'x', length: 0, keys: ['a-', 'b', 'b'] },
            values: { 'a-': 'x', b: '', c: 1 },
            mount_path: '/x',
            rotation: 'x',
            anchor: 'x',
            vault_path: '/x',
            name: '!',
          },
          { name: 'B', vault_path: 'resources/Db', generate: { bytes: 1, length: 1, keys: [] } },
        ],
        environment: { 'b-': '', TOKEN: 'x', 'a-': 1 },
        healthCheck: { retries: 1, timeout: '1s', interval: '1s', command: [], type: 'exec' },
        nodeId: 1,
        replicas: 101,
        image: 'nothing pinned',
        name: 'A'.repeat(64),
        kind: 'Deployment',
        zebra: 1,
        status: {},
      },
    }),
  ],
  [
    'fields before the rules across fields and of the configuration',
    (w) => ({
      body: bodyWith(w, {
        image: 'registry.example/shop/web:1.0',
        dependsOn: { probe: 'started' },
        stopGracePeriod: 'soon',
        environment: { A: 'x', B_a: 'x' },
        composedEnvironment: { A: '{{secret.other.a}}' },
        secrets: [
          { name: 'B', vault_path: 'resources/db', values: { a: 'x' }, generate: { keys: ['a'] } },
          { name: 'C', vault_path: 'deployments/db', anchor: 'volume(vol_01JD0000000000000000000001)' },
        ],
        volumes: [
          { volume: 'vol_01JD0000000000000000000000', target: '/data', type: 'volume', readOnly: false },
        ],
        placement: { residency: { country: 'DE', region: 'moon', blockedCountries: ['US', 'DE', 'US'] } },
        labels: {
          'holdfast.io/data-residency-country': 'DE',
          'holdfast.io/data-residency-region': 'moon',
          team: 'a',
        },
      }),
    }),
  ],
  [
    'the body before checks of its valid fields against the store, in one response',
    (w) => ({
      as: 'full',
      body: bodyWith(w, {
        name: 'only',
        stopGracePeriod: 'soon',
        dependsOn: { missing: 'started', 'B!': 'started' },
        nodeId: 'node_01JD0000000000000000000000',
        volumes: [
          { volume: 'vol_01JD0000000000000000000000', target: '/data', type: 'volume', readOnly: false },
        ],
        routes: [TAKEN_ROUTE],
      }),
    }),
  ],
  [
    'an update with faults in the body and against the store',
    () => ({
      method: 'PUT',
      path: `${POST}/web`,
      body: { replicas: -1, dependsOn: { missing: 'started' }, nodeId: 'node_01JD0000000000000000000000' },
    }),
  ],
  [
    'all checks against the store: name, dependsOn, image, nodeId, secrets, routes, quota',
    (w) => ({
      as: 'full',
      body: bodyWith(w, {
        name: 'only',
        dependsOn: { missing: 'started', 'no-one': 'healthy' },
        image: `${w.platform.image}-unheard-of`,
        nodeId: 'node_01JD0000000000000000000000',
        secrets: [{ name: 'BOUND', vault_path: `deployments/${BOUND_LABEL}` }],
        routes: [{ host: 'free.example', port: 80 }, TAKEN_ROUTE],
      }),
    }),
  ],
]

/** A response in which parts that differ from run to run are replaced by placeholders. */
function normalised({ status, text, headers }: ApiAnswer): object {
  const { platform, fullTenant, uid } = world
  const names: [string, string][] = [
    [platform.baseUrl, '{base_url}'],
    [platform.image, '{image}'],
    [platform.registryHost, '{registry}'],
    [platform.acme.id, '{acme}'],
    [platform.globex.id, '{globex}'],
    [fullTenant, '{full}'],
    [uid, '{uid}'],
  ]
  const stable = names.reduce((whole, [value, name]) => whole.replaceAll(value, name), text)
  return { status, type: headers.get('content-type'), body: JSON.parse(stable) }
}

test('the order of rejections equals the golden file', async () => {
  const answers: { [about: string]: object } = {}
  for (const [about, sent] of [...PHASES, ...BODIES]) {
    answers[about] = normalised(await provoke(world, typeof sent === 'function' ? sent(world) : sent))
  }
  const text = `${JSON.stringify(answers, null, 2)}\n`
  await expect(text).toMatchFileSnapshot('../../golden/order.golden.json')
})
