// Forecasts the death of a primary's node at this moment: the copy that continues with the age of its data, or the obstacle of
// each copy. The forecast uses records and the last measurement; no agent is asked for its promise.

import type { NodeId, VolumeId } from '@holdfast/contract'
import type { GroupMember } from '../handover.ts'
import { replicasOf, type VolumeRecord } from '../volume-record.ts'
import type { PromotionLimits, PromotionObstacle } from './plan-group.ts'

/** `promised` is left out: the promise of every copy expires once the primary is silent. */
export type ForecastObstacle = Exclude<PromotionObstacle, 'promised'>

export interface ForecastFacts {
  /** The volume and those that its workload writes besides; they continue together. */
  readonly members: readonly Pick<GroupMember, 'volume' | 'accepts'>[]
  readonly limits: Pick<PromotionLimits, 'maxLagMs'>
  isReady(nodeId: NodeId): boolean
  /** The age in seconds of the data that the copy has acknowledged; undefined if it is unknown. */
  ageOf(volume: VolumeId, nodeId: NodeId): number | undefined
}

export interface ForecastCopy {
  readonly nodeId: NodeId
  readonly obstacle: ForecastObstacle
  /** Undefined if it is unknown. */
  readonly ageSeconds: number | undefined
}

export interface Forecast {
  /** The copy that continues; undefined if none does. */
  readonly continues: ForecastCopy | undefined
  readonly copies: readonly ForecastCopy[]
}

export function ifPrimaryDies(facts: ForecastFacts): Forecast {
  const volumes = facts.members.map(({ volume }) => volume)
  const nodes = new Set(volumes.flatMap((volume) => replicasOf(volume).map(({ nodeId }) => nodeId)))
  const copies = [...nodes].map((nodeId) => judgeCopy(facts, volumes, nodeId))
  const fit = copies.filter(({ obstacle }) => obstacle === 'none')
  return { continues: fit.toSorted((one, other) => ageOrder(one) - ageOrder(other))[0], copies }
}

const ageOrder = ({ ageSeconds }: ForecastCopy): number => ageSeconds ?? Number.MAX_SAFE_INTEGER

function judgeCopy(facts: ForecastFacts, volumes: readonly VolumeRecord[], nodeId: NodeId): ForecastCopy {
  const ages = volumes.map(({ id }) => facts.ageOf(id, nodeId)).filter((age) => age !== undefined)
  const ageSeconds = ages.length < volumes.length ? undefined : Math.max(...ages)
  return { nodeId, ageSeconds, obstacle: obstacleOf(facts, volumes, nodeId, ageSeconds) }
}

/** The obstacle to remove first: a copy that is not promotable often has another one that explains it. */
function obstacleOf(
  { members, limits, isReady }: ForecastFacts,
  volumes: readonly VolumeRecord[],
  nodeId: NodeId,
  ageSeconds: number | undefined,
): ForecastObstacle {
  const copies = volumes.flatMap((volume) => replicasOf(volume).filter((copy) => copy.nodeId === nodeId))
  if (!isReady(nodeId)) return 'node_silent'
  if (
    copies.length < volumes.length ||
    copies.some(({ state }) => state === 'seeding' || state === 'missing')
  )
    return 'no_common_checkpoint'
  if (!members.every(({ accepts }) => accepts(nodeId))) return 'refused_by_filter'
  const isCurrent = copies.every(({ state }) => state === 'current')
  if (ageSeconds === undefined ? !isCurrent : ageSeconds * 1000 > limits.maxLagMs) return 'lagging'
  return volumes.every(({ promotable = [] }) => promotable.includes(nodeId)) ? 'none' : 'not_promotable'
}
