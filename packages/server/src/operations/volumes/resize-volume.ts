// POST .../volumes/{id}/resize: a larger size needs room on every node with a copy, a smaller one must exceed the bytes in
// use.

import { isVolumeId, type Json, type TenantId, type Volume } from '@holdfast/contract'
import { checkResize, checkVolumeSize, claimedBytes, nodesWithoutRoom } from '@holdfast/core'
import { volumes } from '../../store/records.ts'
import { inTenant } from '../../store/transaction.ts'
import { type Caller, done, type Outcome, refused } from '../caller.ts'
import type { Kept } from '../idempotency.ts'
import { changeVolume, type VolumeChange } from './change-volume.ts'
import type { VolumeDeps } from './deps.ts'
import { volumeResizedEvent } from './volume-events.ts'
import { gatherVolumeFacts } from './volume-facts.ts'

export async function resizeVolume(
  deps: VolumeDeps,
  caller: Caller,
  id: string,
  body: Json,
  kept: Kept<Volume>,
): Promise<Outcome<Volume>> {
  const checked = checkVolumeSize(body)
  if (!checked.ok) return refused(...checked.rejections)
  const sizeBytes = checked.value
  const usedBytes = await measuredBytes(deps, caller.tenant, id)
  const change = setSize(deps, caller, { sizeBytes, usedBytes })
  return changeVolume(deps, caller, id, { action: 'volumes:resize', kept, ...change })
}

/** The change of a volume to a size; `usedBytes` is null if the bytes in use are unknown. */
export function setSize(
  { store }: Pick<VolumeDeps, 'store'>,
  { tenant }: Pick<Caller, 'tenant'>,
  { sizeBytes, usedBytes }: { readonly sizeBytes: number; readonly usedBytes: number | null },
): Required<Pick<VolumeChange, 'decide' | 'events'>> {
  return {
    decide({ spec, copies, phase }) {
      const extra = claimedBytes(sizeBytes) - claimedBytes(spec.sizeBytes)
      const facts = gatherVolumeFacts(store, tenant)
      const withoutRoom = nodesWithoutRoom(copies, extra, facts)
      const state = { phase, sizeBytes: spec.sizeBytes, withoutRoom, usedBytes }
      const rejections = checkResize(sizeBytes, state)
      if (rejections.length > 0) return refused(...rejections)
      if (sizeBytes === spec.sizeBytes) return done(undefined)
      const next = { ...spec, sizeBytes }
      return done(copies.length === 0 ? { spec: next } : { spec: next, phase: 'Resizing' })
    },
    events: (next, before) => [volumeResizedEvent(next, before.spec.sizeBytes)],
  }
}

/** The bytes in use as the primary measures them now; null if it does not answer. */
async function measuredBytes(
  { store, measurements }: VolumeDeps,
  tenant: TenantId,
  id: string,
): Promise<number | null> {
  const stored = isVolumeId(id) ? store.get(inTenant(tenant, volumes, id))?.record : undefined
  if (stored === undefined) return null
  const measured = await measurements.measure(tenant, [stored])
  return measured(stored)?.usedBytes ?? null
}
