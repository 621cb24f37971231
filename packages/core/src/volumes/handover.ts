// The planned handover of a primary from a node that leaves to a node with a current replica. The volumes that one
// deployment writes move together, to one node. See docs/design/volumes.md#handover

import type { NodeId } from '@holdfast/contract'
import { commonNodes } from './common-nodes.ts'
import { keepPromotable, withoutHandover } from './configuration/keep-promotable.ts'
import { primaryReport, replicasOf, type VolumeRecord, type VolumeSituation } from './volume-record.ts'

/** A volume of the group that moves together. */
export interface GroupMember<V extends VolumeRecord = VolumeRecord> {
  readonly volume: V
  readonly situation: VolumeSituation
  /** Whether a container that writes the volume may exist. */
  hasWriter(): boolean
  /** Whether the scheduler's filters accept the node as that of the primary. */
  accepts(nodeId: NodeId): boolean
}

export type HandoverStep =
  | { readonly kind: 'start'; readonly to: NodeId }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'complete'; readonly to: NodeId }

/** The next step of the handover of a group; undefined if there is none now. */
export function nextHandover(members: readonly GroupMember[]): HandoverStep | undefined {
  const to = members.flatMap(({ volume }) => volume.handover?.to ?? [])[0]
  if (to === undefined) return startOf(members)
  const moving = members.filter(({ volume }) => volume.handover?.to === to)
  if (isSplit(members, moving)) return { kind: 'cancel' }
  if (moving.every((member) => isReleased(member, to))) return { kind: 'complete', to }
  return moving.every((member) => mayContinue(member, to)) ? undefined : { kind: 'cancel' }
}

/** Whether a volume on the same node stays behind, because its handover ended or its writer was changed. */
function isSplit(members: readonly GroupMember[], moving: readonly GroupMember[]): boolean {
  const source = moving[0]?.volume.primary?.nodeId
  return members.some((member) => !moving.includes(member) && member.volume.primary?.nodeId === source)
}

function isReleased({ volume, situation }: GroupMember, to: NodeId): boolean {
  return primaryReport(volume, situation)?.released?.to === to
}

/** A handover continues while the primary's node still leaves, and the target lives, stays and has a copy. */
function mayContinue({ volume, situation }: GroupMember, to: NodeId): boolean {
  const [source, target] = [volume.primary?.nodeId, to].map((id) => id && situation.nodeOf(id))
  const holds = replicasOf(volume).some(({ nodeId }) => nodeId === to)
  const isTarget = target !== undefined && target?.status !== 'failed' && target?.isLeaving !== true
  return source?.isLeaving === true && isTarget && holds
}

function startOf(members: readonly GroupMember[]): HandoverStep | undefined {
  if (members.length === 0 || !members.every(mustMove)) return undefined
  const to = targetOf(members)
  return to === undefined || members.some(({ hasWriter }) => hasWriter()) ? undefined : { kind: 'start', to }
}

/** Whether the primary can be handed over, as far as it depends on its own node. */
function mustMove({ volume, situation }: GroupMember): boolean {
  const node = volume.primary === null ? undefined : situation.nodeOf(volume.primary.nodeId)
  const isReplicated = volume.spec.class === 'replicated' && volume.phase === 'Ready'
  return isReplicated && node?.status === 'ready' && node.isLeaving
}

/** The node that accepts every volume of the group and has a current replica of each; the first one by its id. */
function targetOf(members: readonly GroupMember[]): NodeId | undefined {
  return commonNodes(members.map(candidates)).sort()[0]
}

/** A replica that leaves its node is none: the end of that node's drain may be announced already. */
const candidates = ({ volume, accepts }: GroupMember): NodeId[] =>
  replicasOf(volume)
    .filter(({ evacuating }) => evacuating !== true)
    .filter(({ state, nodeId }) => state === 'current' && accepts(nodeId))
    .map(({ nodeId }) => nodeId)

/** The volume after a step of its handover. */
export const handOver = <V extends VolumeRecord>(member: GroupMember<V>, step: HandoverStep): V =>
  keepPromotable(member.volume, afterStep(member, step))

function afterStep<V extends VolumeRecord>({ volume, situation }: GroupMember<V>, step: HandoverStep): V {
  const since = new Date(situation.now).toISOString()
  if (step.kind === 'start') return { ...volume, handover: { to: step.to, since } }
  if (step.kind === 'cancel') return { ...volume, ...withoutHandover(volume) }
  const kept = { ...volume, handover: null }
  const from = primaryReport(volume, situation)?.released?.checkpoint
  if (volume.primary === null || from === undefined) return kept
  return {
    ...kept,
    phase: 'Promoting',
    reason: null,
    primary: { nodeId: step.to, epoch: volume.primary.epoch + 1, since },
    from,
    copies: volume.copies.map((copy) => {
      if (copy.nodeId === step.to) return { ...copy, role: 'primary' as const, state: 'seeding' as const }
      return copy.role === 'primary' ? { ...copy, role: 'replica' as const, state: 'lagging' as const } : copy
    }),
  }
}

/** Why a drain waits for the volumes, with a remedy; undefined if they can leave the node or are leaving it. */
export function drainWaits(members: readonly Omit<GroupMember, 'hasWriter'>[]): string | undefined {
  const replicated = members.filter(({ volume }) => volume.spec.class === 'replicated')
  const anchored = members.find(({ volume, situation }) => isEphemeral(volume) && situation.isAnchored())
  if (anchored !== undefined) return keptByAnchor(anchored.volume)
  if (replicated.length === 0 || replicated.some(({ volume }) => volume.handover?.to !== undefined))
    return undefined
  const blocked = replicated.find(({ volume }) => volume.phase !== 'Ready')?.volume
  if (blocked !== undefined) return `volume ${blocked.spec.name} is ${blocked.phase} and must be Ready first`
  const target = targetOf(replicated.map((member) => ({ ...member, hasWriter: () => false })))
  return target === undefined ? withoutTarget(replicated.map(({ volume }) => volume)) : undefined
}

const isEphemeral = ({ spec }: VolumeRecord): boolean => spec.class === 'ephemeral'

const keptByAnchor = ({ spec }: VolumeRecord): string =>
  `volume ${spec.name} has no copies and an anchored secret, so it is not created again elsewhere: ` +
  'move the data to a replicated volume, or remove the anchor'

/** A volume that demands no copies gets none by waiting. */
function withoutTarget(volumes: readonly VolumeRecord[]): string {
  const names = volumes.map(({ spec }) => spec.name).join(', ')
  const bare = volumes.filter(({ spec }) => spec.replicas === 0).map(({ spec }) => spec.name)
  const remedy =
    bare.length > 0
      ? `add a copy of ${bare.join(', ')}`
      : 'wait until copies there are current, or add a copy on another node'
  return volumes.length === 1
    ? `volume ${names} has no current copy on a node that accepts its primary: ${remedy}`
    : `volumes ${names} have no current copies on one node that accepts their primaries: ${remedy}`
}
