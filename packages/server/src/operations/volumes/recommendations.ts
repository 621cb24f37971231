// Recommendations for the volumes of a tenant: computed at each read from the records and the newest measurements, and
// applied by one transaction.

import { createHash } from 'node:crypto'
import {
  applyRecommendationShape,
  isJsonObject,
  type Json,
  RECOMMENDATION_PRIORITIES,
  RECOMMENDATION_TYPES,
  type Recommendation,
  type Rejection,
  type TenantId,
  type Volume,
} from '@holdfast/contract'
import {
  type AppliedChange,
  checkApply,
  checkVolumePatch,
  checkVolumeSize,
  type NodeAtRisk,
  recommend,
  reject,
} from '@holdfast/core'
import { nodes, type StoredVolume, volumes } from '../../store/records.ts'
import { inTenant } from '../../store/transaction.ts'
import { type Caller, type Outcome, type Refused, refused } from '../caller.ts'
import { checkShape } from '../check-shape.ts'
import type { Kept } from '../idempotency.ts'
import { listPage, type Page, type PageRequest } from '../page.ts'
import { changeVolume, type VolumeChange } from './change-volume.ts'
import type { VolumeDeps } from './deps.ts'
import { setSize } from './resize-volume.ts'
import { setReplicas } from './scale-volume.ts'
import { recommendationAppliedEvent } from './volume-events.ts'

export interface RecommendationFilter extends PageRequest {
  readonly recommendationType?: string
  readonly priority?: string
}

type ReadDeps = Pick<VolumeDeps, 'store' | 'clock' | 'measurements'>

export async function listRecommendations(
  deps: ReadDeps,
  tenant: TenantId,
  filter: RecommendationFilter,
): Promise<Outcome<Page<Recommendation>>> {
  const { recommendationType: wanted, priority } = filter
  const find = async (): Promise<Recommendation[]> => {
    const stored = deps.store.list(volumes, tenant).map(({ record }) => record)
    const all = await adviseOn(deps, tenant, stored)
    return all
      .map(({ recommendation }) => recommendation)
      .filter(({ type }) => wanted === undefined || type === wanted)
      .filter((one) => priority === undefined || one.priority === priority)
  }
  return listPage(deps.store, filter, find, sortKey)
}

/** The most urgent first, then by volume. */
const sortKey = ({ priority, volume_name, type }: Recommendation): string =>
  `${RECOMMENDATION_PRIORITIES.indexOf(priority)}/${volume_name}/${type}`

interface Advised {
  readonly recommendation: Recommendation
  readonly volume: StoredVolume
}

/** The recommendations for the given volumes; asks the nodes of their primaries first. */
async function adviseOn(
  deps: ReadDeps,
  tenant: TenantId,
  stored: readonly StoredVolume[],
): Promise<Advised[]> {
  await deps.measurements.measure(tenant, stored)
  return adviseOnKnown(deps, tenant, stored)
}

/** The recommendations from the last measurements; asks no node, so those about bytes in use may be missing. */
export function recommendationsNow(deps: ReadDeps, tenant: TenantId): Recommendation[] {
  const stored = deps.store.list(volumes, tenant).map(({ record }) => record)
  return adviseOnKnown(deps, tenant, stored).map(({ recommendation }) => recommendation)
}

function adviseOnKnown(
  { store, clock, measurements }: ReadDeps,
  tenant: TenantId,
  stored: readonly StoredVolume[],
): Advised[] {
  const enrolledNodes = store.list(nodes, tenant).length
  const nodeOf = (id: StoredVolume['copies'][number]['nodeId']): NodeAtRisk | undefined => {
    const found = store.get(inTenant(tenant, nodes, id))?.record
    if (found === undefined) return undefined
    const { name, status, schedulable, storage } = found
    return {
      name,
      status,
      schedulable,
      ...(storage?.fault === undefined && storage ? { pool: storage } : {}),
    }
  }
  return stored.flatMap((volume) => {
    const measured = measurements.lastKnown(tenant, volume)
    const facts = { now: clock.now(), enrolledNodes, nodeOf, measured }
    return recommend(volume, facts).map((advice) => ({
      recommendation: { id: recommendationId(volume.id, advice.type), ...advice },
      volume,
    }))
  })
}

const ID_CHARACTERS = 26

/** The id of a recommendation. It depends only on the volume and the type, so it stays while the numbers change. */
export const recommendationId = (volume: string, type: string): string =>
  `rec_${createHash('sha256').update(`${volume}/${type}`).digest('hex').slice(0, ID_CHARACTERS)}`

export async function applyRecommendation(
  deps: VolumeDeps,
  caller: Caller,
  id: string,
  body: Json,
  kept: Kept<Volume>,
): Promise<Outcome<Volume>> {
  const advised = await findRecommendation(deps, caller.tenant, id)
  if (advised === undefined) return refused(reject('dvm_recommendation_not_found', 'id', id))
  const { recommendation, volume } = advised
  const faults = checkBody(body)
  if (faults.length > 0) return refused(...faults)
  const checked = checkApply(recommendation, isJsonObject(body) ? body['parameters'] : undefined)
  if (!checked.ok) return refused(checked.rejection)
  const invalid = checkTarget(checked.value)
  if (!invalid.ok) return asRefused(deps, caller, refused(...invalid.rejections), volume)
  const change = volumeChange(deps, caller, recommendation, checked.value)
  const applied = await changeVolume(deps, caller, volume.id, {
    action: 'recommendations:apply',
    kept,
    decide: (stored) =>
      stored.primary?.epoch === volume.primary?.epoch ? change.decide(stored) : volumeMissing(volume),
    events: (next, before) => [
      recommendationAppliedEvent(next, recommendation),
      ...change.events(next, before),
    ],
  })
  return applied.ok ? applied : asRefused(deps, caller, applied, volume)
}

/** Finds a recommendation by its id. Only the node of its own volume is asked. */
async function findRecommendation(
  deps: ReadDeps,
  tenant: TenantId,
  id: string,
): Promise<Advised | undefined> {
  await deps.store.fresh()
  const volume = deps.store
    .list(volumes, tenant)
    .map(({ record }) => record)
    .find((one) => RECOMMENDATION_TYPES.some((type) => recommendationId(one.id, type) === id))
  const all = volume === undefined ? [] : await adviseOn(deps, tenant, [volume])
  return all.find(({ recommendation }) => recommendation.id === id)
}

/** The faults of the body outside `parameters`, which has rules of its own. */
const checkBody = (body: Json): Rejection[] =>
  checkShape(applyRecommendationShape, body).filter(({ field }) => !field.startsWith('parameters'))

function volumeChange(
  deps: VolumeDeps,
  caller: Caller,
  { measured }: Recommendation,
  applied: AppliedChange,
): Required<Pick<VolumeChange, 'decide' | 'events'>> {
  if (applied.action === 'set_replicas') return setReplicas(deps, caller, applied.replicas)
  return setSize(deps, caller, { sizeBytes: applied.sizeBytes, usedBytes: measured.usedBytes ?? null })
}

/** The rules that a direct request for the same change would have to meet. */
const checkTarget = (applied: AppliedChange) =>
  applied.action === 'resize'
    ? checkVolumeSize({ sizeBytes: applied.sizeBytes })
    : checkVolumePatch({ replicas: applied.replicas })

const volumeMissing = ({ id }: StoredVolume): Refused =>
  refused(reject('dvm_recommendation_volume_missing', 'volume_id', id))

const ABOUT_THE_VOLUME = ['volume_spec_invalid', 'volume_not_ready', 'quota_exceeded']

/** Translates what a change of the volume itself would be rejected with. */
function asRefused(
  { store }: Pick<VolumeDeps, 'store'>,
  { tenant }: Caller,
  outcome: Refused,
  volume: StoredVolume,
): Refused {
  const [first] = outcome.rejections
  const stored = store.get(inTenant(tenant, volumes, volume.id))?.record
  if (stored === undefined || stored.phase === 'Deleting') return volumeMissing(volume)
  if (first === undefined || !ABOUT_THE_VOLUME.includes(first.code)) return outcome
  const reason = `${first.code} at ${first.field}, which accepts ${first.expected}`
  return refused(reject('dvm_recommendation_apply_invalid_spec', 'spec', volume.spec.name, { reason }))
}
