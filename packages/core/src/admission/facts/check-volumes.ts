// Checks the mounts of a deployment against the tenant's volumes: they exist, can be mounted, are Ready, have no other
// writer, and their primaries agree with each other and with nodeId. See docs/design/volumes.md#mounts-and-writers

import {
  type Alteration,
  type DeploymentSpec,
  elementPath,
  type Rejection,
  type Warning,
} from '@holdfast/contract'
import { reject } from '../../reject.ts'
import { commonNodes } from '../../volumes/common-nodes.ts'
import type { ExistingFact, VolumeFact, VolumesFact } from './facts.ts'

type VolumeMount = NonNullable<DeploymentSpec['volumes']>[number]

/** Rejections of each mount in the order of the list, and only the first one of each; then that of `nodeId`. */
export function checkVolumes(
  spec: DeploymentSpec,
  { byId, sendsPlace, mostReplicas = 0 }: VolumesFact,
  existing: Pick<ExistingFact, 'record'> | undefined,
): Rejection[] {
  const stored = existing?.record.volumes ?? []
  const mounts = spec.volumes ?? []
  return [
    ...mounts.flatMap((mount, index) =>
      checkMount({ ...spec, mostReplicas }, mount, index, byId.get(mount.volume), stored),
    ),
    ...(sendsPlace ? checkPrimaries(spec, byId) : []),
  ]
}

/** The replicas that would share a mount: those of the spec, and the most that a scaling policy may desire. */
interface Replicas extends Pick<DeploymentSpec, 'replicas'> {
  readonly mostReplicas: number
}

function checkMount(
  spec: Replicas,
  mount: VolumeMount,
  index: number,
  volume: VolumeFact | undefined,
  stored: readonly VolumeMount[],
): Rejection[] {
  const at = elementPath('volumes', index)
  const field = `${at}.volume`
  const before = stored.filter((each) => each.volume === mount.volume)
  if (volume === undefined) return before.length > 0 ? [] : [reject('volume_not_found', field, mount.volume)]
  if (volume.class === 'object')
    return [reject('volume_class_not_wired', field, mount.volume, { class: volume.class })]
  if (volume.class === 'replicated' && mount.type === 'tmpfs')
    return [reject('volume_mount_shape', `${at}.type`, mount.type, { accepted: NOT_IN_MEMORY })]
  // A mount that the deployment already has stays accepted whatever the phase of the volume.
  if (before.length === 0 && volume.phase !== 'Ready')
    return [reject('volume_not_ready', field, mount.volume, { phase: volume.phase })]
  const cause = mount.readOnly ? undefined : conflictOf(spec, volume)
  return cause === undefined ? [] : [reject('volume_access_mode_conflict', field, mount.volume, { cause })]
}

const NOT_IN_MEMORY = 'volume or bind, because a replicated volume is not kept in memory'

function conflictOf({ replicas, mostReplicas }: Replicas, { writer }: VolumeFact): string | undefined {
  if (writer?.state === 'bound') return `${writer.name} mounts it read-write`
  if (writer?.state === 'releasing') return `the last container of ${writer.name} is not confirmed gone`
  if (mostReplicas > 1) return `the scaling policy allows ${mostReplicas} replicas, which would write to it`
  return replicas > 1 ? `${replicas} replicas would write to it` : undefined
}

/** The distinct replicated volumes that the deployment writes to, each with the index of its first mount. */
function writtenVolumes(
  { volumes = [] }: DeploymentSpec,
  byId: VolumesFact['byId'],
): { readonly index: number; readonly id: string; readonly fact: VolumeFact }[] {
  return volumes.flatMap(({ volume: id, readOnly }, index) => {
    const fact = byId.get(id)
    const isFirst = volumes.findIndex((each) => each.volume === id && !each.readOnly) === index
    return readOnly || fact?.class !== 'replicated' || !isFirst ? [] : [{ index, id, fact }]
  })
}

/** One container writes to all of them, so they must have one primary, and it must be the node that `nodeId` names. */
function checkPrimaries(spec: DeploymentSpec, byId: VolumesFact['byId']): Rejection[] {
  const [first, ...others] = writtenVolumes(spec, byId)
  const primary = first?.fact.primary
  if (primary === undefined || primary === null) return []
  const differing = others.filter(({ fact }) => fact.primary !== primary)
  const { nodeId } = spec
  return [
    ...differing.map(({ index, id }) =>
      reject('volume_primary_mismatch', `${elementPath('volumes', index)}.volume`, id, {
        accepted: `a volume whose primary is ${primary}, like that of ${first?.id}`,
        primary: byId.get(id)?.primary ?? 'none yet',
      }),
    ),
    ...(nodeId === undefined || nodeId === primary
      ? []
      : [reject('volume_primary_mismatch', 'nodeId', nodeId, { accepted: orNoNode(primary), primary })]),
  ]
}

const orNoNode = (primary: string): string => `${primary}, or no nodeId so that placement follows the volume`

/**
 * The spec without a `nodeId` that equals the primary of a replicated volume which the deployment writes to: a stored one
 * would be wrong after the first change of the primary.
 */
export function followVolumes(
  spec: DeploymentSpec,
  { byId }: Pick<VolumesFact, 'byId'>,
): { readonly spec: DeploymentSpec; readonly alterations: Alteration[] } {
  const { nodeId, ...rest } = spec
  const followed = writtenVolumes(spec, byId).find(({ fact }) => fact.primary === nodeId)
  if (nodeId === undefined || followed === undefined) return { spec, alterations: [] }
  const why = `The deployment follows the primary of the volume ${followed.fact.name}, so nodeId is not stored.`
  return {
    spec: rest,
    alterations: [{ code: 'node_follows_volume', field: 'nodeId', from: nodeId, to: null, why }],
  }
}

/** Volumes of one writer change their primary together, which needs a node that holds a copy of each. */
export function warnOfSeparateCopies(spec: DeploymentSpec, { byId }: Pick<VolumesFact, 'byId'>): Warning[] {
  const written = writtenVolumes(spec, byId)
  const hasCopies = written.some(({ fact }) => fact.copies.length > 0)
  const common = commonNodes(written.map(({ fact }) => fact.copies))
  if (written.length < 2 || !hasCopies || common.length > 0) return []
  const names = written.map(({ fact }) => fact.name).join(', ')
  const why = `No node holds a copy of each of the volumes ${names}, so their primary cannot move to another node.`
  return [{ code: 'volumes_not_promotable_together', field: 'volumes', why }]
}
