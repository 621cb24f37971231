// The stored state of a volume and the facts about its nodes from which its next state is decided.

import type {
  NodeId,
  NodeStatus,
  ObservedCopy,
  OfferedCopy,
  Promotion,
  VOLUME_PHASES,
  VolumeCheckpoint,
  VolumeCopy,
  VolumeId,
  VolumeSpec,
} from '@holdfast/contract'

export interface HeldCopy extends VolumeCopy {
  /** Whether the copy was complete once. A copy that was never complete cannot save the data of the volume. */
  readonly seeded?: boolean
  /** Whether the node of the copy was drained: the copy stays until as many others are current. */
  readonly evacuating?: boolean
  /** When the copy got its state; absent in records of earlier versions. */
  readonly stateSince?: string
}

export interface VolumeRecord {
  readonly id: VolumeId
  readonly spec: VolumeSpec
  readonly phase: (typeof VOLUME_PHASES)[number]
  readonly reason: string | null
  readonly primary: { readonly nodeId: NodeId; readonly epoch: number; readonly since: string } | null
  readonly copies: readonly HeldCopy[]
  /** The nodes whose agents must delete a copy and have not confirmed it. */
  readonly leaving?: readonly { readonly nodeId: NodeId; readonly since: string }[]
  /** The node that becomes the primary once the present one has released the volume; absent or null without one. */
  readonly handover?: { readonly to: NodeId; readonly since: string } | null
  /** The checkpoint that is the content of a primary that was a replica before. */
  readonly from?: VolumeCheckpoint
  /** Whether the primary was reported once. Afterwards a primary that its pool lacks is never created empty. */
  readonly provisioned?: boolean
  /** Nodes whose promises the primary needs, and which may be promoted; absent: none. */
  readonly promotable?: readonly NodeId[]
  /** Configuration version: increases with every change of primary, `promotable` and handover; absent: 0. */
  readonly cv?: number
  /** The last promotions, the newest first. */
  readonly promotions?: readonly Promotion[]
  /** Why no copy replaces a silent primary, as one word; absent or null: none has to, or one may soon. */
  readonly unpromoted?: string | null
}

/** A node with a copy, as far as volumes depend on it. */
export interface CopyNode {
  readonly status: NodeStatus
  /** Time of the last change of the status, in milliseconds since 1970. */
  readonly statusSince: number
  readonly schedulable: boolean
  /** Whether the node is drained or released, so that copies must leave it. */
  readonly isLeaving: boolean
  /** Whether the agent stated a usable storage pool when its session began. */
  readonly hasPool: boolean
  /** Whether the agent is of a version without volumes: it keeps the data, but nothing can use it. Absent: it is not. */
  readonly isTooOld?: boolean
  /** Whether the agent is of a version without promises: it writes without a lease. Absent: it is not. */
  readonly cannotPromise?: boolean
}

/** The last report of an agent about its copy. */
export type CopyReport = Pick<
  ObservedCopy,
  'epoch' | 'state' | 'sizeBytes' | 'reason' | 'replicas' | 'released' | 'isPromiseExpired' | 'fencedSince'
>

/** The facts from which the next state of a volume is decided. */
export interface VolumeSituation {
  /** In milliseconds since 1970. */
  readonly now: number
  /** A node of the tenant; undefined if it was removed. */
  nodeOf(id: NodeId): CopyNode | undefined
  reportOf(id: NodeId): CopyReport | undefined
  /** Whether the node satisfies the residency of the volume. */
  isResident(id: NodeId): boolean
  /** Adds the missing copies to the given ones, as far as nodes fit. Drops copies beyond the desired number. */
  place(copies: readonly HeldCopy[]): readonly HeldCopy[]
  /** The copies of the volume that nodes of the tenant offer. */
  offers(): readonly (Pick<OfferedCopy, 'epoch' | 'role'> & { readonly nodeId: NodeId })[]
  /** Whether a container on the node of the primary may use the volume. */
  isMounted(): boolean
  /** Whether a deployment that mounts the volume has an anchored secret. */
  isAnchored(): boolean
}

/** An event about a volume that a change of its state causes. */
export type VolumeOccurrence =
  | { readonly kind: 'ready' }
  | { readonly kind: 'degraded'; readonly reason: string }
  | { readonly kind: 'lost'; readonly nodeId: NodeId; readonly recreatedOn: NodeId | null }
  | { readonly kind: 'replica_added'; readonly nodeId: NodeId }
  | { readonly kind: 'replica_removed'; readonly nodeId: NodeId }
  | { readonly kind: 'handed_over'; readonly from: NodeId; readonly to: NodeId }

export const primaryCopy = ({ copies }: Pick<VolumeRecord, 'copies'>): HeldCopy | undefined =>
  copies.find(({ role }) => role === 'primary')

export const replicasOf = ({ copies }: Pick<VolumeRecord, 'copies'>): readonly HeldCopy[] =>
  copies.filter(({ role }) => role === 'replica')

/** The report about the primary of the current epoch; undefined while the agent has sent none. */
export function primaryReport(
  { primary }: Pick<VolumeRecord, 'primary'>,
  { reportOf }: Pick<VolumeSituation, 'reportOf'>,
): CopyReport | undefined {
  const report = primary === null ? undefined : reportOf(primary.nodeId)
  return report?.epoch === primary?.epoch ? report : undefined
}

/**
 * The volume with other copies. A node that loses its copy is remembered until its agent has confirmed that the data is
 * deleted.
 */
export function withCopies<V extends Pick<VolumeRecord, 'copies' | 'leaving'>>(
  volume: V,
  copies: readonly HeldCopy[],
  since: string,
): V & { readonly copies: HeldCopy[] } {
  const kept = new Set(copies.map(({ nodeId }) => nodeId))
  const dropped = volume.copies
    .filter(({ nodeId }) => !kept.has(nodeId))
    .map(({ nodeId }) => ({ nodeId, since }))
  const leaving = [...(volume.leaving ?? []).filter(({ nodeId }) => !kept.has(nodeId)), ...dropped]
  return { ...withLeaving(volume, leaving), copies: [...copies] }
}

/** The volume with other nodes that must delete their copy. */
export function withLeaving<V extends Pick<VolumeRecord, 'leaving'>>(
  volume: V,
  leaving: NonNullable<VolumeRecord['leaving']>,
): V {
  return leaving.length === (volume.leaving?.length ?? 0) && leaving.length === 0
    ? volume
    : { ...volume, leaving: [...leaving] }
}
