// The recommendations for a volume: copies that are missing or behind, a primary at risk, a size that is too small or far
// too large. See docs/design/volumes.md#recommendations

import {
  defined,
  type Measurement,
  type NodeId,
  type Recommendation,
  type RecommendationType,
} from '@holdfast/contract'
import type { CopyNode, HeldCopy, VolumeRecord } from '../volumes/volume-record.ts'
import { replicasOf } from '../volumes/volume-record.ts'
import { LEAST_BYTES, MOST_BYTES, MOST_REPLICAS } from '../volumes/volume-rules.ts'

/** A recommendation before it has an id. */
export type Advice = Omit<Recommendation, 'id'>

export interface AdviceFacts {
  /** In milliseconds since 1970. */
  readonly now: number
  readonly enrolledNodes: number
  nodeOf(id: NodeId): NodeAtRisk | undefined
  /** The newest measurement of the volume that the server knows, however old it is. */
  readonly measured: Measurement | undefined
}

export interface NodeAtRisk extends Pick<CopyNode, 'status' | 'schedulable'> {
  readonly name: string
  /** Absent if the node has no usable pool. */
  readonly pool?: { readonly poolBytes: number; readonly usedBytes: number }
}

const MIB = 1024 ** 2
const DAY_MS = 86_400_000
const UNHEALTHY_MS = 600_000
/** A capacity recommendation needs a measurement that is at most this old. */
const MEASURED_MS = 60_000
const SHARE = { low: 0.85, critical: 0.95, excess: 0.2, poolFull: 0.85 }
const GROWTH = { low: 1.5, excess: 1.3 }
const EXCESS_DAYS = 7

export function recommend(volume: VolumeRecord, facts: AdviceFacts): Advice[] {
  if (volume.phase === 'Deleting' || volume.phase === 'Lost' || volume.spec.class === 'object') return []
  return [...adviseCopies(volume, facts), ...adviseSize(volume, facts)]
}

function adviseCopies(volume: VolumeRecord, facts: AdviceFacts): Advice[] {
  const { spec } = volume
  if (spec.class !== 'replicated') return []
  const advise = (type: RecommendationType, priority: Advice['priority'], condition: string): Advice =>
    setReplicas(volume, facts, { type, priority, condition })
  const risk = riskOfPrimary(volume, facts)
  const unhealthy = replicasOf(volume).filter((copy) => isUnhealthy(copy, facts.now))
  const names = unhealthy.map(({ nodeId }) => facts.nodeOf(nodeId)?.name ?? nodeId).join(', ')
  return [
    ...(risk === undefined ? [] : [advise('primary_at_risk', 'critical', risk)]),
    ...(spec.replicas > 0 ? [] : [advise('under_replicated', 'high', NO_REPLICA)]),
    ...(names === ''
      ? []
      : [
          advise(
            'replica_unhealthy',
            'high',
            `For 10 minutes the copy on ${names} has been behind or missing.`,
          ),
        ]),
  ]
}

const NO_REPLICA = 'The volume has no replica: if the machine of its primary is lost, so is the data.'

function isUnhealthy({ state, stateSince }: HeldCopy, now: number): boolean {
  const isBehind = state === 'lagging' || state === 'missing'
  return isBehind && stateSince !== undefined && now - Date.parse(stateSince) >= UNHEALTHY_MS
}

/** Why the node of the primary may fail soon, as a sentence; undefined if nothing speaks for it. */
function riskOfPrimary({ primary }: VolumeRecord, { nodeOf }: AdviceFacts): string | undefined {
  const node = primary === null ? undefined : nodeOf(primary.nodeId)
  if (node === undefined) return undefined
  const { name, status, schedulable, pool } = node
  if (status !== 'ready') return `The node of the primary, ${name}, is ${status}.`
  if (!schedulable) return `The node of the primary, ${name}, is cordoned.`
  if (pool === undefined || pool.usedBytes < pool.poolBytes * SHARE.poolFull) return undefined
  return `The storage pool of the primary's node, ${name}, is ${percent(pool.usedBytes, pool.poolBytes)} full.`
}

interface Condition {
  readonly type: RecommendationType
  readonly priority: Advice['priority']
  readonly condition: string
}

function setReplicas(volume: VolumeRecord, facts: AdviceFacts, condition: Condition): Advice {
  const target = volume.spec.replicas + 1
  const nodes = target + 1
  return advice(volume, facts, condition, {
    parameters: { action: 'set_replicas', target_replicas: target },
    obstacle:
      target > MOST_REPLICAS
        ? `A volume has at most ${MOST_REPLICAS} replicas.`
        : facts.enrolledNodes < nodes
          ? `${target} ${target === 1 ? 'replica needs' : 'replicas need'} ${nodes} enrolled nodes, and the tenant has ${facts.enrolledNodes}.`
          : undefined,
  })
}

function adviseSize(volume: VolumeRecord, facts: AdviceFacts): Advice[] {
  const { measured } = facts
  if (measured === undefined) return []
  const condition = sizeCondition(volume, measured)
  if (condition === undefined) return []
  const target = Math.min(MOST_BYTES, Math.max(LEAST_BYTES, wholeMib(condition.bytes)))
  if (condition.type === 'capacity_low' ? target <= volume.spec.sizeBytes : target >= volume.spec.sizeBytes)
    return []
  const parameters = { action: 'resize', target_size_bytes: target } as const
  return [advice(volume, facts, condition, { parameters, obstacle: sizeObstacle(volume, facts, measured) })]
}

interface SizeCondition extends Condition {
  /** The size that fits the use. */
  readonly bytes: number
}

function sizeCondition({ spec }: VolumeRecord, measured: Measurement): SizeCondition | undefined {
  const { usedBytes, highest } = measured
  const share = usedBytes / spec.sizeBytes
  if (share >= SHARE.low)
    return {
      type: 'capacity_low',
      priority: share >= SHARE.critical ? 'critical' : 'high',
      condition: `${percent(usedBytes, spec.sizeBytes)} of the volume is in use.`,
      bytes: usedBytes * GROWTH.low,
    }
  const most = Math.max(usedBytes, highest?.bytes ?? 0)
  if (highest === undefined || !coversWeek(highest.since, measured.measuredAt)) return undefined
  if (most > spec.sizeBytes * SHARE.excess) return undefined
  return {
    type: 'capacity_excess',
    priority: 'low',
    condition: `For 7 days at most ${percent(most, spec.sizeBytes)} of the volume was in use.`,
    bytes: most * GROWTH.excess,
  }
}

const coversWeek = (since: string, until: string): boolean =>
  Date.parse(until) - Date.parse(since) >= EXCESS_DAYS * DAY_MS

function sizeObstacle(
  { phase }: VolumeRecord,
  { now }: AdviceFacts,
  { measuredAt }: Measurement,
): string | undefined {
  if (Math.abs(now - Date.parse(measuredAt)) > MEASURED_MS)
    return `The node of the primary has not measured the volume since ${measuredAt}.`
  return phase === 'Ready' ? undefined : `The volume is ${phase}; only a volume that is Ready is resized.`
}

function advice(
  { id, spec }: VolumeRecord,
  { enrolledNodes, measured }: AdviceFacts,
  { type, priority, condition }: Condition,
  { parameters, obstacle }: Pick<Advice, 'parameters'> & { readonly obstacle: string | undefined },
): Advice {
  return {
    type,
    priority,
    volume_id: id,
    volume_name: spec.name,
    applicable: obstacle === undefined,
    why: obstacle === undefined ? condition : `${condition} ${obstacle}`,
    parameters,
    measured: {
      sizeBytes: spec.sizeBytes,
      replicas: spec.replicas,
      enrolledNodes,
      ...defined({
        usedBytes: measured?.usedBytes,
        highestBytes: measured?.highest?.bytes,
        measuredAt: measured?.measuredAt,
      }),
    },
  }
}

const percent = (part: number, whole: number): string => `${Math.floor((100 * part) / whole)} %`

const wholeMib = (bytes: number): number => Math.ceil(bytes / MIB) * MIB
