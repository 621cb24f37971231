// Requests that raise the error codes whose only cause is the body of a deployment.

import type { Code } from '@holdfast/contract'
import { bodyWith, type Provocation, TAKEN_ROUTE, type World } from './provoke.ts'
import { SECRET_BODY_PROVOCATIONS } from './secret-body-provocations.ts'

type Parts = { readonly [field: string]: unknown }

type BodyProvocation = Provocation<Pick<World, 'platform'>>

/** A request with one fault in an otherwise valid deployment body. */
const fault = (code: Code, field: string, parts: Parts, codes?: readonly Code[]): BodyProvocation => ({
  code,
  field,
  sent: (world) => ({ body: bodyWith(world, parts) }),
  ...(codes === undefined ? {} : { codes }),
})
const check = (parts: Parts): Parts => ({ healthCheck: { type: 'exec', command: ['true'], ...parts } })
const numbered = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, '']))
const mount = (parts: Parts): Parts => ({
  volumes: [{ volume: 'vol_01JD0000000000000000000000', target: '/data', type: 'volume', ...parts }],
})

const nameAndImage: readonly Provocation[] = [
  fault('name_required', 'name', { name: undefined }),
  fault('name_required', 'name', { name: null }),
  fault('name_required', 'name', { name: '' }),
  fault('deployment_name_invalid', 'name', { name: 'Web' }),
  fault('deployment_name_invalid', 'name', { name: '1web' }),
  fault('deployment_name_too_long', 'name', { name: 'a'.repeat(64) }),
  fault('reserved_infrastructure_name', 'name', { name: 'etcd' }),
  fault('reserved_infrastructure_name', 'name', { name: 'holdfast-etcd' }),
  fault('manifest_wrong_kind', 'kind', { kind: 'Job', replicas: -1 }),
  fault('manifest_wrong_kind', 'kind', { kind: undefined, name: '' }),
  fault('image_required', 'image', { image: undefined }),
  fault('image_required', 'image', { image: '' }),
  fault('image_required', 'image', { image: 'registry.example/a:latest' }),
  fault('image_required', 'image', { image: 'registry.example/a' }),
  fault('image_required', 'image', { image: 'not a reference' }),
  fault('registry_not_allowed', 'image', { image: 'registry.example/shop/web:1.0' }),
  {
    code: 'image_not_found',
    field: 'image',
    sent: (world) => ({ body: bodyWith(world, { image: `${world.platform.image}-unheard-of` }) }),
  },
]

const amounts: readonly Provocation[] = [
  fault('replicas_negative', 'replicas', { replicas: -1 }),
  fault('replicas_out_of_range', 'replicas', { replicas: 101 }),
  fault('secrets_version_negative', 'secretsVersion', { secretsVersion: -1 }),
  fault('resources_invalid', 'resources.cpuMillis', { resources: { cpuMillis: -1 } }),
  fault('resources_invalid', 'limits.memoryBytes', { limits: { memoryBytes: 0.5 } }),
  fault('update_invalid', 'update.order', { update: { order: 'at-once' } }),
  fault('update_invalid', 'update.parallelism', { update: { parallelism: 0 } }),
]

const healthChecks: readonly Provocation[] = [
  fault('healthcheck_command_missing', 'healthCheck.command', check({ command: undefined })),
  fault('healthcheck_command_missing', 'healthCheck.command', check({ command: [] })),
  fault('healthcheck_command_missing', 'healthCheck.command', check({ command: [' '] })),
  fault('healthcheck_retries_below_floor', 'healthCheck.retries', check({ retries: 2 })),
  fault('healthcheck_timeout_below_floor', 'healthCheck.timeout', check({ timeout: '9s' })),
  fault('healthcheck_interval_below_floor', 'healthCheck.interval', check({ interval: '4999ms' })),
  fault('healthcheck_type_inert', 'healthCheck.type', check({ type: undefined })),
  fault('healthcheck_type_inert', 'healthCheck.type', check({ type: 'none' })),
  fault('healthcheck_type_inert', 'healthCheck.type', check({ command: ['NONE'] })),
  fault('healthcheck_type_unsupported', 'healthCheck.type', check({ type: 'http' })),
]

const environment: readonly Provocation[] = [
  fault('plaintext_credential_in_environment', 'environment.DB_PASSWORD', {
    environment: { DB_PASSWORD: 'x' },
  }),
  fault('plaintext_credential_in_environment', 'environment.START', {
    environment: { START: 'https://user:pass@example.com/' },
  }),
  fault('environment_key_invalid', 'environment["a-b"]', { environment: { 'a-b': '' } }),
  fault('environment_too_large', 'environment', { environment: { A: 'x'.repeat(256 * 1024) } }),
]

const resident = (residency: unknown): Parts => ({ placement: { residency } })

const placementAndLabels: readonly Provocation[] = [
  fault('placement_invalid', 'placement.affinity[0]', { placement: { affinity: ['No'] } }),
  fault('placement_invalid', 'placement.constraints[0].operator', {
    placement: { constraints: [{ label: 'disk', operator: 'like' }] },
  }),
  fault('label_reserved', 'labels["holdfast.io/team"]', { labels: { 'holdfast.io/team': 'a' } }),
  fault('residency_label_handwritten', 'labels["holdfast.io/data-residency-country"]', {
    labels: { 'holdfast.io/data-residency-country': 'DE' },
  }),
  fault('residency_declared_twice', 'labels["holdfast.io/data-residency-country"]', {
    labels: { 'holdfast.io/data-residency-country': 'DE' },
    ...resident({ country: 'DE' }),
  }),
  fault('residency_region_undeclared', 'placement.residency.region', resident({ region: 'EU' })),
  fault('placement_invalid', 'placement.residency.country', resident({ country: 'Germany' })),
  fault('placement_invalid', 'placement.residency.region', resident({ region: '' })),
  fault(
    'placement_invalid',
    'placement.residency.blockedCountries[1]',
    resident({ country: 'DE', blockedCountries: ['US', 'DE'] }),
  ),
  fault('field_type_invalid', 'placement.residency', resident(null)),
]

const namedNodes: readonly Provocation[] = [
  fault('node_not_a_placement_candidate', 'nodeId', { nodeId: 'node_01JD0000000000000000000000' }),
  fault('node_not_a_placement_candidate', 'nodeId', { nodeId: 'standing' }),
  fault('field_type_invalid', 'nodeId', { nodeId: 7 }),
  {
    code: 'node_candidates_unresolvable',
    field: 'nodeId',
    sent: (world) => ({ as: 'globex', body: bodyWith(world, { nodeId: world.nodeId }) }),
  },
]

const shapes: readonly Provocation[] = [
  fault('field_unknown', 'colour', { colour: 'red' }),
  fault('field_unknown', 'healthCheck.colour', check({ colour: 'red' })),
  fault('field_unknown', 'placement.residency.city', { placement: { residency: { city: 'Bonn' } } }),
  fault('list_too_long', 'placement.residency.blockedCountries', {
    placement: { residency: { blockedCountries: Array(250).fill('US') } },
  }),
  fault('field_read_only', 'uid', { uid: 'dep_01JD0000000000000000000000' }),
  fault('field_type_invalid', 'replicas', { replicas: 1.5 }),
  fault('field_type_invalid', 'replicas', { replicas: '1' }),
  fault('field_type_invalid', 'stopGracePeriod', { stopGracePeriod: '10 seconds' }),
  fault('list_too_long', 'labels', { labels: numbered(65) }),
  { code: 'body_malformed', field: 'body', sent: () => ({ body: [] }) },
]

/** Requests that mount volumes on a platform that has volumes disabled. */
export const DISABLED_MOUNT_PROVOCATIONS: readonly BodyProvocation[] = [
  fault('volume_mount_shape', 'volumes[0].target', mount({ target: 'data' })),
  fault('volume_binding_unavailable', 'volumes', mount({})),
]

const routed = (parts: Parts, count = 1): Parts => ({
  routes: Array.from({ length: count }, () => ({ host: 'free.example', path: '/', port: 80, ...parts })),
})

const routes: readonly Provocation[] = [
  fault('route_invalid', 'routes[0].host', routed({ host: 'https://a.example' })),
  fault('route_invalid', 'routes[0].host', routed({ host: undefined })),
  fault('route_invalid', 'routes[0].path', routed({ path: '/a/../b' })),
  fault('route_invalid', 'routes[0].port', routed({ port: 0 })),
  fault('route_invalid', 'routes[1].path', routed({}, 2)),
  fault('field_type_invalid', 'routes[0].port', routed({ port: '80' })),
  fault('field_unknown', 'routes[0].tls', routed({ tls: true })),
  fault('list_too_long', 'routes', routed({}, 17)),
  fault('route_conflict', 'routes[0]', routed(TAKEN_ROUTE)),
  {
    code: 'route_conflict',
    field: 'routes[0]',
    sent: () => ({
      method: 'PUT',
      path: '/api/v1/deployments/plain',
      body: routed(TAKEN_ROUTE),
    }),
  },
]

const dependencies: readonly Provocation[] = [
  fault('dependency_invalid', 'dependsOn.probe', { dependsOn: { probe: 'started' } }),
  fault('dependency_invalid', 'dependsOn.web', { dependsOn: { web: 'soon' } }),
  fault('dependency_invalid', 'dependsOn["chain-16"]', { dependsOn: { 'chain-16': 'started' } }),
  fault('dependency_not_found', 'dependsOn.absent', { dependsOn: { absent: 'started' } }),
  fault('dependency_has_no_health_check', 'dependsOn.plain', { dependsOn: { plain: 'healthy' } }),
  {
    code: 'dependency_has_no_health_check',
    field: 'healthCheck',
    sent: () => ({ method: 'PUT', path: '/api/v1/deployments/web', body: { healthCheck: null } }),
  },
  {
    code: 'dependency_invalid',
    field: 'dependsOn["chain-3"]',
    sent: () => ({
      method: 'PUT',
      path: '/api/v1/deployments/chain-1',
      body: { dependsOn: { 'chain-3': 'started' } },
    }),
  },
]

export const BODY_PROVOCATIONS: readonly Provocation[] = [
  ...nameAndImage,
  ...amounts,
  ...healthChecks,
  ...environment,
  ...placementAndLabels,
  ...namedNodes,
  ...shapes,
  ...DISABLED_MOUNT_PROVOCATIONS,
  ...routes,
  ...dependencies,
  ...SECRET_BODY_PROVOCATIONS,
]
