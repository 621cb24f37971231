// Confirms, before a rotation may end, that the copies of anchored volumes have the data from after the cutover. Once every
// consumer has the new version, the primary of each volume is asked for a checkpoint, and then which copies have it. The
// answers are stored, so any owner of the shard can continue. See docs/design/secrets.md#anchored-volumes

import { isDeepStrictEqual } from 'node:util'
import type { Measurement, NodeId, TenantId, VolumeId } from '@holdfast/contract'
import {
  type AnchoredVolume,
  checkpointOf,
  consumerBlockers,
  nextCheckpoint,
  type RotationCheckpoint,
  volumesToAsk,
} from '@holdfast/core'
import { gatherRotation } from '../operations/secrets/rotation/rotation-guards.ts'
import { byVolume, type CallMeasure } from '../operations/volumes/measure-volumes.ts'
import { credentials, type StoredCredential } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { inTenant } from '../store/transaction.ts'
import type { Leadership } from './leadership/lead-shards.ts'

export interface ConfirmDeps {
  readonly store: Store
  readonly leadership: Pick<Leadership, 'fenced'>
  readonly callMeasure: CallMeasure
}

export interface Confirmations {
  /** Asks the primaries of a tenant's volumes, unless the last questions are still open. */
  start(tenant: TenantId, labels: readonly string[]): void
  settled(): Promise<void>
}

/** A node that does not answer delays the rotations of its own tenant only. */
export function createConfirmations(
  deps: ConfirmDeps,
  onError: (error: unknown, tenant: TenantId) => void,
): Confirmations {
  const running = new Map<TenantId, Promise<void>>()
  async function confirmAll(tenant: TenantId, labels: readonly string[]): Promise<void> {
    for (const label of labels) await confirm(deps, tenant, label)
  }
  return {
    start(tenant, labels) {
      if (running.has(tenant)) return
      const work = confirmAll(tenant, labels)
        .catch((error: unknown) => onError(error, tenant))
        .finally(() => running.delete(tenant))
      running.set(tenant, work)
    },
    settled: async () => void (await Promise.all(running.values())),
  }
}

async function confirm(deps: ConfirmDeps, tenant: TenantId, label: string): Promise<void> {
  const credential = deps.store.get(inTenant(tenant, credentials, label))?.record
  if (credential?.rotation === undefined || credential.rotation.aborting === true) return
  const facts = gatherRotation(deps.store, tenant, credential)
  const recorded = credential.rotation.checkpoints ?? []
  // A consumer may have joined with the old version, and then the checkpoint is not from after the whole cutover.
  const next = consumerBlockers(facts).length > 0 ? [] : await ask(deps, tenant, facts.volumes, recorded)
  if (!isDeepStrictEqual(next, recorded)) await record(deps, tenant, credential, next)
}

/** The checkpoints after the answers of the primaries. A primary that does not answer changes nothing. */
async function ask(
  deps: ConfirmDeps,
  tenant: TenantId,
  volumes: readonly AnchoredVolume[],
  recorded: readonly RotationCheckpoint[],
): Promise<readonly RotationCheckpoint[]> {
  const asked = volumesToAsk(volumes, recorded)
  const answers = await askNodes(deps, tenant, asked, recorded)
  const found = asked.flatMap((volume) => {
    const answer = answers.get(volume.id)
    return (answer && nextCheckpoint(volume, recorded, answer)) ?? []
  })
  const kept = recorded.filter(({ volume }) => !found.some((one) => one.volume === volume))
  return found.length === 0 ? recorded : [...kept, ...found]
}

async function askNodes(
  { callMeasure }: ConfirmDeps,
  tenant: TenantId,
  asked: readonly AnchoredVolume[],
  recorded: readonly RotationCheckpoint[],
): Promise<ReadonlyMap<VolumeId, Measurement>> {
  const byNode = Map.groupBy(asked, ({ primary }) => primary?.nodeId)
  const answers = await Promise.all(
    [...byNode].map(async ([nodeId, volumes]: [NodeId | undefined, AnchoredVolume[]]) => {
      const isTaken = volumes.every((volume) => checkpointOf(volume, recorded) !== undefined)
      if (nodeId === undefined) return []
      return byVolume(await callMeasure(tenant, nodeId, isTaken ? 'measure' : 'checkpoint')) ?? []
    }),
  )
  return new Map(answers.flatMap((answer) => [...answer]))
}

/** Stores the checkpoints, unless the record has changed since the questions were asked. */
async function record(
  { leadership }: ConfirmDeps,
  tenant: TenantId,
  decided: StoredCredential,
  checkpoints: readonly RotationCheckpoint[],
): Promise<void> {
  await leadership.fenced<void>(tenant, (transaction) => {
    const address = inTenant(tenant, credentials, decided.label)
    const stored = transaction.get(address)
    if (stored?.rotation === undefined || !isDeepStrictEqual(stored, decided))
      return { kind: 'abort', result: undefined }
    const kept = checkpoints.map((one) => ({ ...one, acknowledged: [...one.acknowledged] }))
    transaction.put(address, { ...stored, rotation: { ...stored.rotation, checkpoints: kept } })
    return { kind: 'commit', result: undefined }
  })
}
