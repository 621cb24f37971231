// Examples of the codes that reject a manifest, except for those of its secrets.

import type { Json } from '../../json/json.ts'
import { type CodeExample, EXAMPLE, inManifest } from './example.ts'

type Fields = { readonly [field: string]: Json | undefined }

const check = (fields: Fields): Fields => ({
  healthCheck: JSON.parse(JSON.stringify({ type: 'exec', command: ['pg_isready'], ...fields })),
})
const placed = (placement: Json): Fields => ({ placement })
const routed = (fields: Fields): Fields => ({
  routes: [JSON.parse(JSON.stringify({ host: 'www.example.com', path: '/', port: 8080, ...fields }))],
})
const routes = (count: number): Fields => ({
  routes: Array.from({ length: count }, (_, index) => ({
    host: 'www.example.com',
    path: `/part-${index + 1}`,
    port: 8080,
  })),
})
const COUNTRY_LABEL = 'holdfast.io/data-residency-country'

const nameAndImage = {
  name_required: inManifest('name', { name: undefined }, { name: 'shop' }),
  deployment_name_invalid: inManifest('name', { name: 'Shop' }, { name: 'shop' }),
  deployment_name_too_long: inManifest('name', { name: 'shop'.repeat(16) }, { name: 'shop' }),
  reserved_infrastructure_name: inManifest('name', { name: 'etcd' }, { name: 'shop-etcd' }),
  manifest_wrong_kind: inManifest('kind', { kind: 'Job' }, { kind: 'Deployment' }),
  image_required: inManifest(
    'image',
    { image: 'registry.example.com/shop/web:latest' },
    { image: EXAMPLE.image },
  ),
  image_not_found: {
    ...inManifest('image', { image: `${EXAMPLE.image}-missing` }, { image: EXAMPLE.image }),
    params: {},
  },
  registry_not_allowed: {
    ...inManifest('image', { image: 'elsewhere.example/shop/web:1.4.2' }, { image: EXAMPLE.image }),
    params: { allowed: EXAMPLE.registry },
  },
} satisfies { [code: string]: CodeExample }

const numbers = {
  replicas_negative: inManifest('replicas', { replicas: -1 }, { replicas: 2 }),
  replicas_out_of_range: inManifest('replicas', { replicas: 1_000_000 }, { replicas: 2 }),
  secrets_version_negative: inManifest('secretsVersion', { secretsVersion: -1 }, {}),
  resources_invalid: inManifest(
    'resources.cpuMillis',
    { resources: { cpuMillis: -250, memoryBytes: 268_435_456 } },
    { resources: { cpuMillis: 250, memoryBytes: 268_435_456 } },
  ),
  update_invalid: inManifest(
    'update.parallelism',
    { update: { parallelism: 0 } },
    { update: { parallelism: 1 } },
  ),
} satisfies { [code: string]: CodeExample }

const healthChecks = {
  healthcheck_command_missing: inManifest('healthCheck.command', check({ command: [] }), check({})),
  healthcheck_retries_below_floor: inManifest(
    'healthCheck.retries',
    check({ retries: 1 }),
    check({ retries: 3 }),
  ),
  healthcheck_timeout_below_floor: inManifest(
    'healthCheck.timeout',
    check({ timeout: '2s' }),
    check({ timeout: '10s' }),
  ),
  healthcheck_interval_below_floor: inManifest(
    'healthCheck.interval',
    check({ interval: '1s' }),
    check({ interval: '10s' }),
  ),
  healthcheck_type_inert: inManifest('healthCheck.type', check({ type: 'none' }), {}),
  healthcheck_type_unsupported: inManifest(
    'healthCheck.type',
    { healthCheck: { type: 'http', command: ['/health'] } },
    { healthCheck: { type: 'exec', command: ['curl', '-fs', 'http://localhost:8080/health'] } },
  ),
} satisfies { [code: string]: CodeExample }

const environment = {
  plaintext_credential_in_environment: inManifest(
    'environment.DB_PASSWORD',
    { environment: { DB_PASSWORD: 'example' } },
    { secrets: [{ name: 'DB', vault_path: 'deployments/shop' }] },
  ),
  environment_key_invalid: inManifest(
    'environment["log-level"]',
    { environment: { 'log-level': 'info' } },
    { environment: { LOG_LEVEL: 'info' } },
  ),
  environment_too_large: inManifest(
    'environment',
    { environment: { PAGE: 'x'.repeat(262_144) } },
    { environment: { PAGE: 'x' } },
  ),
} satisfies { [code: string]: CodeExample }

const placement = {
  placement_invalid: inManifest(
    'placement.constraints[0].operator',
    placed({ constraints: [{ label: 'disk', operator: 'like', values: ['ssd'] }] }),
    placed({ constraints: [{ label: 'disk', operator: 'in', values: ['ssd'] }] }),
  ),
  label_reserved: inManifest(
    'labels["holdfast.io/team"]',
    { labels: { 'holdfast.io/team': 'shop' } },
    { labels: { team: 'shop' } },
  ),
  residency_label_handwritten: inManifest(
    `labels["${COUNTRY_LABEL}"]`,
    { labels: { [COUNTRY_LABEL]: 'DE' } },
    placed({ residency: { country: 'DE' } }),
  ),
  residency_declared_twice: inManifest(
    `labels["${COUNTRY_LABEL}"]`,
    { labels: { [COUNTRY_LABEL]: 'DE' }, ...placed({ residency: { country: 'DE' } }) },
    placed({ residency: { country: 'DE' } }),
  ),
  residency_region_undeclared: {
    ...inManifest(
      'placement.residency.region',
      placed({ residency: { region: 'europe' } }),
      placed({ residency: { region: 'eu' } }),
      'The platform has the regions that exist without configuration.',
    ),
    params: { regions: 'apac, dach, eea, eu, na, nordics' },
  },
  node_not_a_placement_candidate: {
    ...inManifest(
      'nodeId',
      { nodeId: 'node_01JD0000000000000000000000' },
      { nodeId: EXAMPLE.node },
      'The tenant has one node, and it accepts new work.',
    ),
    params: {},
  },
} satisfies { [code: string]: CodeExample }

const fields = {
  field_unknown: inManifest('replica', { replica: 2 }, { replicas: 2 }),
  field_read_only: inManifest('uid', { uid: 'dep_01JD0000000000000000000000' }, {}),
  field_type_invalid: inManifest('replicas', { replicas: '2' }, { replicas: 2 }),
  list_too_long: inManifest('routes', routes(17), routes(2)),
  volume_mount_shape: inManifest(
    'volumes[0].target',
    { volumes: [{ volume: 'vol_01JD0000000000000000000000', target: 'data', type: 'volume' }] },
    {},
  ),
  volume_binding_unavailable: inManifest(
    'volumes',
    { volumes: [{ volume: 'vol_01JD0000000000000000000000', target: '/data', type: 'volume' }] },
    {},
  ),
} satisfies { [code: string]: CodeExample }

const routesAndDependencies = {
  route_invalid: inManifest('routes[0].host', routed({ host: 'https://www.example.com' }), routed({})),
  route_conflict: {
    ...inManifest(
      'routes[0]',
      routed({ host: 'orders.example.com' }),
      routed({}),
      'The deployment orders has the route orders.example.com/.',
    ),
    params: { deployment: 'orders' },
  },
  dependency_invalid: inManifest(
    'dependsOn.shop',
    { dependsOn: { shop: 'started' } },
    { dependsOn: { orders: 'started' } },
    'The deployment orders exists.',
  ),
  dependency_not_found: {
    ...inManifest(
      'dependsOn.order',
      { dependsOn: { order: 'started' } },
      { dependsOn: { orders: 'started' } },
      'The deployment orders exists, and order does not.',
    ),
    params: {},
  },
  dependency_has_no_health_check: {
    ...inManifest(
      'dependsOn.orders',
      { dependsOn: { orders: 'healthy' } },
      { dependsOn: { orders: 'started' } },
      'The deployment orders has no health check.',
    ),
    params: { accepted: 'healthy for a deployment with a healthCheck, otherwise started' },
  },
} satisfies { [code: string]: CodeExample }

export const manifestExamples = {
  ...nameAndImage,
  ...numbers,
  ...healthChecks,
  ...environment,
  ...placement,
  ...fields,
  ...routesAndDependencies,
}
