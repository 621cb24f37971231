// Reads volumes and explains where their copies could be. Another tenant's volume and a missing one get the same answer.

import { isVolumeId, type TenantId, type Volume, type Why } from '@holdfast/contract'
import { explainVolume, reject } from '@holdfast/core'
import { timestamp } from '../../ports/clock.ts'
import { type StoredVolume, volumes } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { inTenant } from '../../store/transaction.ts'
import { done, type Outcome, type Refused, refusedBy } from '../caller.ts'
import { pageCandidates } from '../deployments/read/why-pages.ts'
import { listPage, mapPage, type Page, type PageRequest } from '../page.ts'
import type { VolumeDeps } from './deps.ts'
import { type ForecastDeps, forecastVolume } from './promotion/forecast-volume.ts'
import { demandOf, gatherVolumeFacts } from './volume-facts.ts'
import { volumeView } from './volume-view.ts'

/** The path names the volume, so the code has its second status. */
export const volumeNotFound = (id: string): Refused =>
  refusedBy({ rejections: [reject('volume_not_found', 'id', id)], alternative: true })

async function findVolume(store: Store, tenant: TenantId, id: string): Promise<Outcome<StoredVolume>> {
  await store.fresh()
  const found = isVolumeId(id) ? store.get(inTenant(tenant, volumes, id)) : undefined
  return found === undefined ? volumeNotFound(id) : done(found.record)
}

type ReadDeps = Pick<VolumeDeps, 'store' | 'measurements'>

export async function getVolume(deps: ForecastDeps, tenant: TenantId, id: string): Promise<Outcome<Volume>> {
  const { store, measurements } = deps
  const found = await findVolume(store, tenant, id)
  if (!found.ok) return found
  const measured = await measurements.measure(tenant, [found.value])
  const ifPrimaryDies = await forecastVolume(deps, tenant, found.value)
  const view = volumeView(store, tenant, found.value, measured(found.value))
  return done({ ...view, ...(ifPrimaryDies && { ifPrimaryDies }) })
}

export async function listVolumes(
  { store, measurements }: ReadDeps,
  tenant: TenantId,
  request: PageRequest,
): Promise<Outcome<Page<Volume>>> {
  const stored = () => store.list(volumes, tenant).map(({ record }) => record)
  const page = await listPage(store, request, stored, ({ spec }) => spec.name)
  const measured = await measurements.measure(tenant, page.ok ? page.value.items : [])
  return mapPage(page, (volume) => volumeView(store, tenant, volume, measured(volume)))
}

/**
 * GET /why of a volume: the nodes on which the primary or a missing copy could be, why others refuse it, and why each copy may
 * or may not replace the primary.
 */
export async function explainVolumeNow(
  deps: ForecastDeps,
  tenant: TenantId,
  id: string,
  request: PageRequest,
): Promise<Outcome<Why>> {
  const { store, clock, residency } = deps
  const found = await findVolume(store, tenant, id)
  if (!found.ok) return found
  const { spec, phase, copies } = found.value
  const ifPrimaryDies = await forecastVolume(deps, tenant, found.value)
  const answered = { decidedAt: timestamp(clock), phase, ...(ifPrimaryDies && { ifPrimaryDies }) }
  if (spec.class === 'object' || copies.length > spec.replicas)
    return done({
      ...answered,
      summary: 'Every copy has a node.',
      candidates: [],
      cure: [],
      nextCursor: null,
    })
  const { summary, candidates, cure } = explainVolume(
    demandOf(store, tenant, spec, residency),
    copies,
    gatherVolumeFacts(store, tenant),
  )
  const names = candidates.map(({ nodeName }) => nodeName)
  const page = pageCandidates({ names, candidateAt: (position) => candidates[position] }, request)
  return page.ok ? done({ ...answered, summary, cure, ...page.value }) : page
}

/** The snapshots of a volume: none, because none can be created. */
export async function listSnapshots(
  store: Store,
  tenant: TenantId,
  id: string,
  request: PageRequest,
): Promise<Outcome<Page<{ id: string }>>> {
  const found = await findVolume(store, tenant, id)
  return found.ok
    ? listPage(
        store,
        request,
        () => [],
        () => '',
      )
    : found
}

export async function getSnapshot(
  store: Store,
  tenant: TenantId,
  id: string,
  snapshot: string,
): Promise<Outcome<{ id: string }>> {
  const found = await findVolume(store, tenant, id)
  if (!found.ok) return found
  const rejection = reject('volume_snapshot_not_found', `snapshots/${snapshot}`, snapshot)
  return refusedBy({ rejections: [rejection], alternative: false })
}
