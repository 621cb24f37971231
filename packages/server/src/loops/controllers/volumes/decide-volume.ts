// Decides what to write for one volume: the next step of its handover, or its next state. The decision reads through a
// transaction, so that every record it relies on is compared at commit.

import { isDeepStrictEqual } from 'node:util'
import type { TenantId, VolumeId } from '@holdfast/contract'
import { handOver, nextHandover, nextVolume, type VolumeOccurrence } from '@holdfast/core'
import { groupOf } from '../../../operations/volumes/volume-group.ts'
import { copyNode, type SituationDeps, situationOf } from '../../../operations/volumes/volume-situation.ts'
import { type StoredVolume, volumes } from '../../../store/records.ts'
import { inTenant } from '../../../store/transaction.ts'

export interface VolumeWrite {
  readonly before: StoredVolume
  /** Undefined if the volume is removed with its name and its quota. */
  readonly after: StoredVolume | undefined
  readonly occurrences: readonly VolumeOccurrence[]
}

export interface VolumeDecision {
  /** Empty if nothing changes. */
  readonly writes: readonly VolumeWrite[]
  readonly decideAgainAt: number | undefined
}

const NOTHING: VolumeDecision = { writes: [], decideAgainAt: undefined }

export function decideVolume(deps: SituationDeps, tenant: TenantId, id: VolumeId): VolumeDecision {
  const before = deps.read(inTenant(tenant, volumes, id))
  if (before === undefined) return NOTHING
  const moved = decideHandover(deps, tenant, before)
  if (moved.length > 0) return { writes: moved, decideAgainAt: undefined }
  const next = nextVolume(before, situationOf(deps, tenant, before))
  if (next.kind === 'delete') return { ...NOTHING, writes: [{ before, after: undefined, occurrences: [] }] }
  const { volume: after, occurrences, decideAgainAt } = next
  return { writes: isDeepStrictEqual(before, after) ? [] : [{ before, after, occurrences }], decideAgainAt }
}

/** The writes of the next step of a handover, for all volumes that move together. */
function decideHandover(deps: SituationDeps, tenant: TenantId, volume: StoredVolume): VolumeWrite[] {
  const { primary, handover, phase } = volume
  if (primary === null || phase === 'Deleting' || phase === 'Lost') return []
  const isLeaving = copyNode(deps.read, tenant, primary.nodeId)?.isLeaving === true
  if (!isLeaving && !handover) return []
  const members = groupOf(deps, tenant, volume)
  const step = nextHandover(members)
  if (step === undefined) return []
  return members
    .filter((member) => step.kind === 'start' || member.volume.handover)
    .map((member) => {
      const before = member.volume
      const from = before.primary?.nodeId
      const isMoved = step.kind === 'complete' && from !== undefined
      return {
        before,
        after: handOver(member, step),
        occurrences: isMoved ? [{ kind: 'handed_over', from, to: step.to }] : [],
      }
    })
}
