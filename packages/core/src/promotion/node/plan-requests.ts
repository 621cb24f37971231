// The requests of a primary to the server: to drop promotable nodes that are silent, and to add copies that are current.

import { asNodeId, type ConfigureRequest, type VolumeId } from '@holdfast/contract'
import { requiredNodes } from '../primary.ts'
import { growBy, shrinkSilent } from '../primary-requests.ts'
import type { PromotionTimings } from '../timings.ts'
import type { PrimaryRole } from './follow-volume.ts'

export interface GrowthFacts {
  readonly nowMs: number
  /** The number of the newest checkpoint of this epoch, and the copies that have it; undefined without a checkpoint. */
  readonly current: { readonly number: number; readonly nodes: readonly string[] } | undefined
  /** Whether a living fencer knows a finite end of the lease. */
  readonly isWatched: boolean
}

export interface PlannedRequests {
  readonly role: PrimaryRole
  /** To be sent after the role is on disk. */
  readonly requests: readonly ConfigureRequest[]
}

export function planRequests(
  role: PrimaryRole,
  volume: VolumeId,
  facts: GrowthFacts,
  timings: PromotionTimings,
): PlannedRequests {
  if (role.isDeposed) return { role, requests: [] }
  const silent = shrinkSilent(role.primary, facts.nowMs, timings, role.sinceMs).map(({ node }) => node)
  const left = dropUnsent(role, silent)
  if (silent.length > 0) return { role: left, requests: silentRequests(left, volume, silent) }
  return growthRequests(left, volume, facts, timings)
}

/** No request for these nodes has left, so no transaction can list them. */
function dropUnsent(role: PrimaryRole, silent: readonly string[]): PrimaryRole {
  const dropped = role.unsent.filter((node) => silent.includes(node))
  if (dropped.length === 0) return role
  const isKept = (node: string): boolean => !dropped.includes(node)
  const { durable } = role.primary
  const primary = { ...role.primary, durable: { ...durable, asked: durable.asked.filter(isKept) } }
  return { ...role, primary, unsent: role.unsent.filter(isKept) }
}

/**
 * A silent node whose request has left may be listed at any time, which only a newer version prevents. So the request is
 * repeated, and the node dropped once it is listed.
 */
function silentRequests(
  { primary }: PrimaryRole,
  volume: VolumeId,
  silent: readonly string[],
): ConfigureRequest[] {
  const { epoch, cv, configured, asked } = primary.durable
  const shrinks = silent.filter((node) => configured.includes(node))
  const grows = silent.filter((node) => asked.includes(node))
  return [
    ...shrinks.map((node) => ({ kind: 'shrink', volume, epoch, nodeId: asNodeId(node) }) as const),
    ...grows.map((node) => ({ kind: 'grow', volume, epoch, cv, nodeId: asNodeId(node) }) as const),
  ]
}

/** Asks for one node at a time: a transaction for one makes the requests for others outdated. */
function growthRequests(
  role: PrimaryRole,
  volume: VolumeId,
  { nowMs, current, isWatched }: GrowthFacts,
  timings: PromotionTimings,
): PlannedRequests {
  const required = requiredNodes(role.primary)
  const [asked] = role.primary.durable.asked
  const node = asked ?? current?.nodes.find((each) => !required.includes(each))
  if (node === undefined || current === undefined) return { role, requests: [] }
  const { durable } = role.primary
  const stored = new Map(current.nodes.map((each) => [each, current.number]))
  const informed = { ...role.primary, stored, durable: { ...durable, checkpoint: current.number } }
  const { state, send } = growBy(informed, node, nowMs, timings)
  if (send.length === 0) return { role, requests: [] }
  if (asked === undefined)
    return { role: { ...role, primary: state, unsent: [...role.unsent, node] }, requests: [] }
  if (role.unsent.includes(node) && !isWatched) return { role, requests: [] }
  const { epoch, cv } = durable
  return {
    role: { ...role, unsent: role.unsent.filter((each) => each !== node) },
    requests: [{ kind: 'grow', volume, epoch, cv, nodeId: asNodeId(node) }],
  }
}
