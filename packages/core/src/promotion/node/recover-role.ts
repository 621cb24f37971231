// The role of a node that has lost its record of the promises of a volume, from a read of the stored configuration. The read
// is newer than all that the node has forgotten, so the role need only cover what can still commit after it.
// See docs/design/promises.md#a-lost-file

import type { Configuration, DesiredCopy } from '@holdfast/contract'
import {
  type CopyRole,
  followVolume,
  type PrimaryRole,
  type PromisingNode,
  type VolumeRole,
} from './follow-volume.ts'

/**
 * Undefined if the desired copy and the configuration are not of the same primary, because one of them is outdated, or if
 * the node must wait. `sinceMs`: since when the node has acknowledged nothing, on its clock.
 */
export function recoverRole(
  desired: DesiredCopy,
  stored: Configuration,
  node: PromisingNode,
  sinceMs: number,
): VolumeRole | undefined {
  const isPrimary = stored.primary === node.node
  if (stored.epoch !== desired.epoch || isPrimary !== (desired.role === 'primary')) return undefined
  const { cv, promotable, handOverTo } = stored
  const { handOverTo: _, ...rest } = desired
  const role = followVolume(undefined, { ...rest, cv, promotable, ...(handOverTo && { handOverTo }) }, node)
  return role.role === 'copy' ? recoverCopy(role, stored, node, sinceMs) : recoverPrimary(role)
}

/**
 * Only a promotable copy can have a vote that still commits. It waits until the primary has dropped it, or until its last
 * promise has expired: then it counts as one that has voted, which is what it would do.
 */
function recoverCopy(
  { role, copy }: CopyRole,
  { promotable }: Configuration,
  { nowMs, timings }: PromisingNode,
  sinceMs: number,
): CopyRole | undefined {
  if (!promotable.some((node) => node === copy.node)) return { role, copy }
  const promisedUntilMs = sinceMs + timings.promiseMs
  if (nowMs < promisedUntilMs) return undefined
  return { role, copy: { ...copy, durable: { ...copy.durable, prepared: true }, promisedUntilMs } }
}

/** A request for any copy may still be under way, unless a handover began after it. */
function recoverPrimary(role: PrimaryRole): PrimaryRole {
  const { primary } = role
  const { configured, handover } = primary.durable
  const asked = handover === undefined ? primary.copies.filter((node) => !configured.includes(node)) : []
  const durable = { ...primary.durable, asked: asked.toSorted() }
  return { ...role, primary: { ...primary, durable }, isConfirmed: true }
}
