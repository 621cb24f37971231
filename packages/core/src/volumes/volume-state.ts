// Derives the phase of a volume from its copies, and the rules that need the stored state of a volume.

import type { Rejection, VolumeCopy, VolumeSpec } from '@holdfast/contract'
import { reject } from '../reject.ts'
import { MOST_REPLICAS, ONE_COPY } from './volume-rules.ts'

/** The phase of a volume whose copies were just placed, and why it lacks something. */
export function placedPhase(
  { class: kind, replicas }: VolumeSpec,
  copies: readonly VolumeCopy[],
): { readonly phase: 'Pending' | 'Materializing' | 'Ready'; readonly reason: string | null } {
  if (kind === 'object') return { phase: 'Ready', reason: null }
  if (copies.length === 0) return { phase: 'Pending', reason: 'unschedulable' }
  const reason = copies.length < 1 + replicas ? 'under_replicated' : null
  const isMade = copies.some(({ role, state }) => role === 'primary' && state !== 'seeding')
  return { phase: isMade ? 'Ready' : 'Materializing', reason }
}

/** The bytes by which a volume counts against the quota volume_bytes. */
export const quotaBytes = ({ sizeBytes, replicas }: Pick<VolumeSpec, 'sizeBytes' | 'replicas'>): number =>
  sizeBytes * (1 + replicas)

export interface VolumeFacts {
  /** Whether another volume of the tenant has the name. */
  readonly isNameTaken: boolean
  /** Whether `nodeId` is a node of the tenant; true if no node is named. */
  readonly isNodeKnown: boolean
}

/** Checks a new volume against the records of the tenant. */
export function checkVolumeFacts(
  { name, nodeId }: VolumeSpec,
  { isNameTaken, isNodeKnown }: VolumeFacts,
): Rejection[] {
  const taken = reject('volume_spec_invalid', 'name', name, {
    accepted: 'a name that no other volume of this tenant has',
  })
  const unknown = reject('volume_spec_invalid', 'nodeId', nodeId, {
    accepted: 'the id of a node of this tenant',
  })
  return [...(isNameTaken ? [taken] : []), ...(isNodeKnown ? [] : [unknown])]
}

export interface ResizeFacts {
  readonly phase: string
  readonly sizeBytes: number
  /** The names of nodes with a copy whose pool has no room for the new size. */
  readonly withoutRoom: readonly string[]
  /** The bytes in use as the primary measured them; null if it did not answer. */
  readonly usedBytes: number | null
}

/** The share by which a smaller size must exceed the bytes in use. */
const HEADROOM = 1.05

export function checkResize(next: number, facts: ResizeFacts): Rejection[] {
  const { phase, sizeBytes, withoutRoom, usedBytes } = facts
  if (phase !== 'Ready') return [reject('volume_not_ready', 'id', phase, { phase })]
  const invalid = (accepted: string) => [reject('volume_spec_invalid', 'sizeBytes', next, { accepted })]
  if (next > sizeBytes)
    return withoutRoom.length === 0
      ? []
      : invalid(`a size that fits the storage pools of all copies; too small: ${withoutRoom.join(', ')}`)
  if (next === sizeBytes) return []
  if (usedBytes === null) return invalid(`at least ${sizeBytes}, because the bytes in use are unknown`)
  const least = Math.ceil(usedBytes * HEADROOM)
  return next < least ? invalid(`at least ${least}: the bytes in use and 5 %`) : []
}

/** Checks a new number of copies against the class of the volume. */
export function checkReplicas({ class: kind }: VolumeSpec, replicas: number): Rejection[] {
  if (kind === 'replicated' || replicas === 0) return []
  return [reject('volume_spec_invalid', 'replicas', replicas, ONE_COPY.params)]
}

/** Why no node can get a further copy of the volume, in words; undefined if one may. */
export function refusalOfVolume(
  { class: kind, replicas }: VolumeSpec,
  copies: readonly VolumeCopy[],
): string | undefined {
  if (kind !== 'replicated') return `a volume of class ${kind} has no copies`
  if (replicas >= MOST_REPLICAS) return `the volume already has ${MOST_REPLICAS} replicas`
  return copies.length === 0 ? 'the volume has no primary yet' : undefined
}
