// Requests that raise the error codes of volumes and mounts, on a platform that has volumes enabled, and a mount that the
// server accepts with alterations and a warning. tests/real/api sends them to scripted nodes.

import { type Code, entryOf } from '@holdfast/contract'
import { exampleOf } from '@holdfast/contract/examples'
import { changedKeys, readKeyRevisions } from '../hostile/key-revisions.ts'
import type { ApiAnswer } from '../platform/api-client.ts'
import { bodyWith, type Provocation, type Sent } from './provoke.ts'
import { anchoredSecret, VOLUME_CODES, type VolumeWorld } from './volume-world.ts'

type Parts = { readonly [field: string]: unknown }
type VolumeProvocation = Provocation<VolumeWorld>

const UNKNOWN = 'vol_01JD0000000000000000000000'
const DEPLOYMENTS = '/api/v1/deployments'

const mount = (volume: string, parts: Parts = {}): Parts => ({
  volume,
  target: '/data',
  type: 'volume',
  readOnly: false,
  ...parts,
})

/** A new deployment with a fault in its mounts. */
const creating = (code: Code, field: string, parts: (world: VolumeWorld) => Parts): VolumeProvocation => ({
  code,
  field,
  sent: (world) => ({ body: bodyWith(world, { replicas: 0, ...parts(world) }) }),
})

const updating = (
  code: Code,
  field: string,
  name: string,
  parts: (world: VolumeWorld) => Parts,
): VolumeProvocation => ({
  code,
  field,
  sent: (world) => ({ method: 'PUT', path: `${DEPLOYMENTS}/${name}`, body: parts(world) }),
})

/** A request whose path begins with that of the tenant's volumes. */
const onVolumes = (
  code: Code,
  field: string,
  sent: (world: VolumeWorld) => Sent,
  parts: Pick<VolumeProvocation, 'alternative'> = {},
): VolumeProvocation => ({
  code,
  field,
  sent: (world) => {
    const { path = '', ...rest } = sent(world)
    return { ...rest, path: `${world.path}${path}` }
  },
  ...parts,
})

/** The examples of the reference pages. */
const examples = VOLUME_CODES.map((code): VolumeProvocation => {
  const { fails, field } = exampleOf(code) ?? {}
  if (fails === undefined || field === undefined) throw new Error(`no example of ${code}`)
  return { code, field, sent: (world) => world.real(fails), alternative: code === 'volume_not_found' }
})

const AT = 'volumes[0].volume'

const mounts: readonly VolumeProvocation[] = [
  creating('volume_not_found', AT, () => ({ volumes: [mount(UNKNOWN)] })),
  creating('volume_not_found', AT, ({ volumes }) => ({ volumes: [mount(volumes.foreign)] })),
  creating('volume_class_not_wired', AT, ({ volumes }) => ({ volumes: [mount(volumes.objects)] })),
  creating('volume_mount_shape', 'volumes[0].type', ({ volumes }) => ({
    volumes: [mount(volumes.free, { type: 'tmpfs' })],
  })),
  creating('volume_mount_shape', 'volumes[0].source', ({ volumes }) => ({
    volumes: [mount(volumes.free, { source: '/' })],
  })),
  creating('volume_mount_shape', 'volumes[1].target', ({ volumes }) => ({
    volumes: [mount(volumes.free), mount(volumes.free)],
  })),
  creating('volume_not_ready', AT, ({ volumes }) => ({ volumes: [mount(volumes.waiting)] })),
  updating('volume_not_ready', AT, 'plain', ({ volumes }) => ({ volumes: [mount(volumes.waiting)] })),
  creating('volume_primary_mismatch', 'nodeId', ({ nodes, volumes }) => ({
    nodeId: nodes.other,
    volumes: [mount(volumes.free)],
  })),
  creating('volume_primary_mismatch', 'volumes[1].volume', ({ volumes }) => ({
    volumes: [mount(volumes.free), mount(volumes.elsewhere, { target: '/other' })],
  })),
  updating('anchored_secret_dropped', 'secrets', 'orders', () => ({ secrets: [] })),
  updating('anchored_secret_repointed', 'secrets[0].vault_path', 'orders', (world) => ({
    secrets: [{ ...anchoredSecret(world), vault_path: 'deployments/another-db' }],
  })),
]

const CONFLICT = 'volume_access_mode_conflict'

const writers: readonly VolumeProvocation[] = [
  creating(CONFLICT, AT, ({ volumes }) => ({ volumes: [mount(volumes.mounted)] })),
  creating(CONFLICT, AT, ({ volumes }) => ({ volumes: [mount(volumes.scratch)] })),
  creating(CONFLICT, AT, ({ volumes }) => ({ replicas: 2, volumes: [mount(volumes.free)] })),
  updating(CONFLICT, AT, 'reader', ({ volumes }) => ({ volumes: [mount(volumes.mounted)] })),
  updating(CONFLICT, AT, 'orders', () => ({ replicas: 2 })),
]

const SIZE = 2 ** 24
const specOf = (parts: Parts): Parts => ({
  name: 'another',
  class: 'replicated',
  sizeBytes: SIZE,
  replicas: 1,
  ...parts,
})
const INVALID = 'volume_spec_invalid'
const patching = (id: string, body: Parts, headers = {}): Sent => ({
  method: 'PATCH',
  path: `/${id}`,
  body,
  headers,
})

const specs: readonly VolumeProvocation[] = [
  onVolumes(INVALID, 'name', () => ({ body: specOf({ name: 'free' }) })),
  onVolumes(INVALID, 'nodeId', ({ nodes }) => ({ body: specOf({ nodeId: nodes.foreign }) })),
  onVolumes('field_unknown', 'size', () => ({ body: specOf({ size: 1 }) })),
  onVolumes(INVALID, 'replicas', ({ volumes }) => patching(volumes.free, { replicas: 5 })),
  onVolumes(INVALID, 'replicas', ({ volumes }) => patching(volumes.scratch, { replicas: 1 })),
  onVolumes('revision_conflict', 'If-Match', ({ volumes }) =>
    patching(volumes.free, { replicas: 0 }, { 'if-match': '"99"' }),
  ),
  onVolumes(INVALID, 'sizeBytes', ({ volumes }) => ({
    path: `/${volumes.objects}/resize`,
    body: { sizeBytes: SIZE },
  })),
]

const copying = (volume: keyof VolumeWorld['volumes'], nodeId: (world: VolumeWorld) => string) =>
  onVolumes('replica_node_invalid', 'node_id', (world) => ({
    path: `/${world.volumes[volume]}/replicas`,
    body: { node_id: nodeId(world) },
  }))

const copies: readonly VolumeProvocation[] = [
  copying('free', ({ nodes }) => nodes.primary),
  copying('free', ({ nodes }) => nodes.foreign),
  copying('free', () => 'storage-1'),
  copying('scratch', ({ nodes }) => nodes.other),
  onVolumes('node_not_found', 'nodeId', ({ nodes, volumes }) => ({
    method: 'DELETE',
    path: `/${volumes.free}/replicas/${nodes.primary}`,
  })),
]

const unresolved = (id: (world: VolumeWorld) => string): VolumeProvocation[] => {
  const missing = (method: string, rest = '', body?: Parts) =>
    onVolumes(
      'volume_not_found',
      'id',
      (world) => ({ method, path: `/${id(world)}${rest}`, ...(body === undefined ? {} : { body }) }),
      { alternative: true },
    )
  return [
    missing('GET'),
    missing('DELETE'),
    missing('GET', '/why'),
    missing('GET', '/snapshots'),
    missing('POST', '/resize', { sizeBytes: SIZE }),
  ]
}

const requests: readonly VolumeProvocation[] = [
  ...unresolved(() => UNKNOWN),
  ...unresolved(() => 'free'),
  ...unresolved(({ volumes }) => volumes.foreign),
  {
    code: 'tenant_not_found',
    field: 'tenant',
    sent: ({ platform, volumes }) => ({
      method: 'GET',
      path: `/api/v1/tenants/${platform.globex.id}/volumes/${volumes.free}`,
    }),
  },
  onVolumes('volume_in_use', 'id', ({ volumes }) => ({ method: 'DELETE', path: `/${volumes.mounted}` })),
  onVolumes('volume_in_use', 'id', ({ volumes }) => ({ method: 'DELETE', path: `/${volumes.elsewhere}` })),
  {
    code: 'query_parameter_unknown',
    field: 'x',
    sent: () => ({ method: 'GET', path: '/api/v1/dvm/volumes?x=1' }),
  },
]

const NO_SNAPSHOT = 'volume_snapshot_not_implemented'

const snapshots: readonly VolumeProvocation[] = [
  onVolumes('volume_snapshot_not_found', 'snapshots/one', ({ volumes }) => ({
    method: 'GET',
    path: `/${volumes.free}/snapshots/one`,
  })),
  ...[undefined, {}, '{'].map((body) =>
    onVolumes(NO_SNAPSHOT, 'snapshots', ({ volumes }) => ({ path: `/${volumes.free}/snapshots`, body })),
  ),
  onVolumes(NO_SNAPSHOT, 'snapshots', () => ({ path: '/none/snapshots', body: {} })),
  onVolumes('query_parameter_unknown', 'x', ({ volumes }) => ({
    path: `/${volumes.free}/snapshots?x=1`,
    body: {},
  })),
]

export const VOLUME_PROVOCATIONS: readonly VolumeProvocation[] = [
  ...examples,
  ...mounts,
  ...writers,
  ...specs,
  ...copies,
  ...requests,
  ...snapshots,
]

/**
 * Sends a row, a write also as a dry run, and returns what is wrong: a response without the code, the field or the status of
 * the row, or a key of any tenant that was created, changed or deleted.
 */
export async function rejectionFaults<In extends Pick<VolumeWorld, 'platform' | 'api'>>(
  world: In,
  { code, field, sent, alternative = false }: Provocation<In>,
): Promise<string[]> {
  const { method = 'POST', path = DEPLOYMENTS, body, headers } = sent(world)
  const { status, alternativeStatus } = entryOf(code)
  const expected = `${alternative ? alternativeStatus?.status : status} ${code} ${field}`
  const dry = `${path}${path.includes('?') ? '&' : '?'}dryRun=true`
  const faults: string[] = []
  const before = await tenantRevisions(world)
  for (const to of method === 'GET' ? [path] : [dry, path]) {
    const answer = await world.api.send(method, to, body, headers)
    const received = `${answer.status} ${answer.codes} ${answer.body['field']}`
    if (received !== expected)
      faults.push(`${method} ${to}: ${received} instead of ${expected}: ${answer.text}`)
  }
  const changed = changedKeys(before, await tenantRevisions(world))
  return [...faults, ...changed.map((key) => `${method} ${path}: ${key} changed`)]
}

const tenantRevisions = ({ platform: { config, root } }: Pick<VolumeWorld, 'platform'>) =>
  readKeyRevisions(config.etcd.endpoints[0] ?? '', `${root}/t/`)

/** Creates a deployment whose mounts the server accepts with two alterations and a warning. */
export const createAltered = ({ api, nodes, platform, volumes }: VolumeWorld): Promise<ApiAnswer> =>
  api.post(DEPLOYMENTS, {
    ...bodyWith({ platform }, { name: 'altered', replicas: 0, nodeId: nodes.primary }),
    volumes: [mount(volumes.free), mount(volumes.alone, { target: '/other' })],
  })

/** The alterations and the warning of `createAltered`. */
export const ALTERED = [
  { code: 'node_follows_volume', field: 'nodeId' },
  { code: 'update_order_stop_first', field: 'update.order' },
  { code: 'volumes_not_promotable_together', field: 'volumes' },
] as const
