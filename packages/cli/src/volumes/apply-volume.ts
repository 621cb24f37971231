// Creates or changes the volume of one document. The number of copies is changed before the size.

import type { Client, Failure, Result } from '@holdfast/client'
import type { Alteration, Effects, Volume, Warning } from '@holdfast/contract'
import { volumeBody } from '@holdfast/manifest'
import type { Prepared } from './prepared.ts'

export type AppliedVolume =
  | {
      readonly ok: true
      readonly verb: 'created' | 'configured' | 'unchanged'
      readonly volume: Volume
      readonly alterations: readonly Alteration[]
      readonly warnings: readonly Warning[]
    }
  | { readonly ok: false; readonly failure: Failure }

export async function applyVolume(client: Client, document: Prepared): Promise<AppliedVolume> {
  const { manifest, before, plan } = document
  if (before === undefined) {
    const created = await client.volumes.create(volumeBody(manifest.value))
    return created.ok ? { ok: true, verb: 'created', ...created.value } : created
  }
  const changed = await changeVolume(client, before, plan ?? {})
  if (!changed.ok) return changed
  const verb = plan?.action === 'update' ? 'configured' : 'unchanged'
  return { ok: true, verb, volume: changed.value, alterations: [], warnings: [] }
}

async function changeVolume(
  { volumes }: Client,
  before: Volume,
  { sizeBytes, replicas }: { readonly sizeBytes?: number; readonly replicas?: number },
): Promise<Result<Volume>> {
  const { id, revision } = before
  const scaled: Result<Volume> =
    replicas === undefined
      ? { ok: true, value: before }
      : await volumes.setReplicas(id, replicas, { ifMatch: String(revision) })
  return !scaled.ok || sizeBytes === undefined ? scaled : volumes.resize(id, sizeBytes)
}

export interface VolumeDryRun {
  readonly alterations: readonly Alteration[]
  readonly warnings: readonly Warning[]
  /** The volume as it would be. */
  readonly result: Volume
  /** The effects of a change; undefined if nothing would change. */
  readonly effects: Effects | undefined
}

/** The dry run of a document. A changed number of copies and a changed size are judged one by one. */
export async function planOnPlatform(
  { volumes: { dryRuns } }: Client,
  { manifest, before, plan }: Prepared,
): Promise<Result<VolumeDryRun>> {
  if (before === undefined) {
    const created = await dryRuns.create(volumeBody(manifest.value))
    if (!created.ok) return created
    const { alterations, warnings, plan: planned } = created.value
    const { result, effects } = planned
    return { ok: true, value: { alterations, warnings, result: result.volume, effects } }
  }
  const { replicas, sizeBytes } = plan ?? {}
  const scaled = replicas === undefined ? undefined : await dryRuns.setReplicas(before.id, replicas)
  if (scaled?.ok === false) return scaled
  const resized = sizeBytes === undefined ? undefined : await dryRuns.resize(before.id, sizeBytes)
  if (resized?.ok === false) return resized
  const { alterations = [], warnings = [], plan: planned } = (scaled ?? resized)?.value ?? {}
  const effects = planned?.effects
  // The dry run of the number of copies does not know the planned size.
  const result = { ...(planned?.result ?? before), sizeBytes: sizeBytes ?? before.sizeBytes }
  return { ok: true, value: { alterations, warnings, result, effects } }
}
