// The words for what keeps a copy from being promoted, wherever a person reads them.

import type { NodeId } from '@holdfast/contract'
import type { Forecast, ForecastCopy, ForecastObstacle } from './if-primary-dies.ts'
import type { PromotionObstacle } from './plan-group.ts'

/** The fault of a copy; the name of its node precedes it. */
export const OBSTACLE_TEXTS: { readonly [obstacle in PromotionObstacle]: string } = {
  none: 'fits',
  not_promotable: 'is not promotable',
  node_silent: 'does not answer',
  promised: 'still has a promise to the primary',
  refused_by_filter: 'is refused by residency or by the placement of the writer',
  no_common_checkpoint: 'has no common checkpoint of all volumes that the workload writes',
  lagging: 'is further behind than the configured limit',
}

const REMEDIES: { readonly [obstacle in Exclude<ForecastObstacle, 'none'>]: string } = {
  not_promotable:
    'wait until its agent has answered the primary, and check the peer port between the two nodes',
  node_silent: 'start its agent, or add a copy on another node',
  refused_by_filter: 'change the residency or the constraints, or add a copy on a node that fits',
  no_common_checkpoint: 'wait until the first copy is complete',
  lagging: 'check the network between the two nodes and the replication rate of the agent',
}

const RETURN_OR_FORCE = 'Start its machine again, or promote a copy by force if that machine is off for good.'

const ADD_REPLICA = 'it has no copy; set replicas to 1 or more'

export interface ForecastPrimary {
  readonly nodeId: NodeId
  /** Whether the node of the primary is silent, so that the forecast is about the present. */
  readonly isSilent: boolean
}

/** Why a copy does not continue, with the remedy; that it would, if nothing is wrong. */
export function copyText(
  { nodeId, obstacle }: ForecastCopy,
  nameOf: (nodeId: NodeId) => string,
  primary?: ForecastPrimary,
): string {
  const text = `${nameOf(nodeId)} ${OBSTACLE_TEXTS[obstacle]}`
  if (obstacle === 'none') return text
  if (obstacle !== 'not_promotable' || !primary?.isSilent) return `${text}; ${REMEDIES[obstacle]}`
  // The primary may have dropped the copy and not know it; both cases look the same from here.
  const name = nameOf(primary.nodeId)
  return `${text}; ${name} may write without its promise, so the volume waits for ${name}`
}

export function forecastText(
  forecast: Forecast,
  primary: ForecastPrimary,
  nameOf: (nodeId: NodeId) => string,
): string {
  const { continues, copies } = forecast
  const name = nameOf(primary.nodeId)
  if (continues === undefined) {
    const reasons = copies.map((copy) => copyText(copy, nameOf, primary)).join('. ') || ADD_REPLICA
    if (!primary.isSilent) return `If ${name} dies now, nothing continues: ${reasons}.`
    return `${name} does not answer, and no copy replaces it: ${reasons}. ${RETURN_OR_FORCE}`
  }
  const { nodeId, ageSeconds } = continues
  if (primary.isSilent) return `${name} does not answer; ${nameOf(nodeId)} continues soon.`
  const data =
    ageSeconds === undefined ? 'the data of its last checkpoint' : `the data of ${ageSeconds} s ago`
  return `If ${name} dies now, ${nameOf(nodeId)} continues with ${data}.`
}
