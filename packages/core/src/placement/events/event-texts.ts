// Wording that several events of a placement plan use.

import type { Json, NodeId, Rollout } from '@holdfast/contract'
import type { Explanation } from '../../scheduling/index.ts'
import { IN_EVENT, matrixWithin } from '../decision-record.ts'
import type { PlacementEvent } from '../placement-plan.ts'

export type NodeName = (id: NodeId) => string

/** A placement event before its subject and its cause are filled in. */
export type EventDraft = Omit<PlacementEvent, 'subject' | 'cause'>

/** A number of replicas in words: "1 replica", "3 replicas". */
export const replicasText = (count: number): string => (count === 1 ? '1 replica' : `${count} replicas`)

/** A number of replicas with the verb: "1 replica is", "3 replicas are". */
export const replicasAre = (count: number): string => `${replicasText(count)} ${count === 1 ? 'is' : 'are'}`

/** The seconds since the revision of a rollout began, which may have continued the rollout of an earlier revision. */
export function secondsSince({ startedAt, continuedAt = startedAt }: Rollout, nowMs: number): string {
  return ((nowMs - Date.parse(continuedAt)) / 1000).toFixed(1)
}

/** The nodes that refuse a replica, as the data of an event. */
export function refusalData(refused: Explanation): { [key: string]: Json } {
  const { summary, count } = refused
  const { candidates, groups } = matrixWithin(refused, IN_EVENT)
  return groups === undefined
    ? { summary, candidates: candidates.map((each) => ({ ...each, refusals: [...each.refusals] })) }
    : { summary, nodes: count, groups: [...groups] }
}

/** The most replicas or nodes that one event message names. */
export const MOST_NAMED = 5
