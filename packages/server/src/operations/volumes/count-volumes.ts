// Volumes, replicas and pools of all tenants, counted for the metrics. Every phase and state is listed, also with 0: a
// series that disappears cannot raise an alert.

import { COPY_STATES, PROMOTION_CAUSES, VOLUME_PHASES } from '@holdfast/contract'
import {
  copyReports,
  nodes,
  pools,
  type StoredCopyReport,
  type StoredVolume,
  tenants,
  volumes,
} from '../../store/records.ts'
import type { Store } from '../../store/store.ts'

export interface VolumeCounts {
  readonly byPhase: ReadonlyMap<string, number>
  /** Replicas by their state, as the primaries last reported them. */
  readonly replicasByState: ReadonlyMap<string, number>
  /** Remembered promotions of volumes that exist, by their cause. */
  readonly promotionsByCause: ReadonlyMap<string, number>
  /** Desired copies that have no node or whose data is missing. */
  readonly missingCopies: number
  /** Volumes that demand copies and have no promotable one. */
  readonly unprotected: number
  /** Primaries whose writers a fence keeps from running. */
  readonly fenced: number
  /** Former data of volumes that nodes keep in quarantine. */
  readonly divergences: number
  readonly poolBytes: { readonly total: number; readonly used: number }
}

const isReplicated = ({ spec, phase }: StoredVolume): boolean =>
  spec.class === 'replicated' && spec.replicas > 0 && phase !== 'Deleting'

/** The last report of a former primary may still have its fence. */
const isOfPrimary = ({ id, primary }: StoredVolume, { volume, nodeId, epoch }: StoredCopyReport): boolean =>
  volume === id && nodeId === primary?.nodeId && epoch === primary.epoch

const missingIn = ({ spec, copies }: StoredVolume): number =>
  Math.max(0, 1 + spec.replicas - copies.filter(({ state }) => state !== 'missing').length)

export function countVolumes(store: Pick<Store, 'list'>): VolumeCounts {
  const byPhase = new Map<string, number>(VOLUME_PHASES.map((phase) => [phase, 0]))
  const replicasByState = new Map<string, number>(COPY_STATES.map((state) => [state, 0]))
  const promotionsByCause = new Map<string, number>(PROMOTION_CAUSES.map((cause) => [cause, 0]))
  const poolBytes = { total: 0, used: 0 }
  let [missingCopies, unprotected, fenced, divergences] = [0, 0, 0, 0]
  const increase = (counts: Map<string, number>, key: string): void =>
    void counts.set(key, (counts.get(key) ?? 0) + 1)
  for (const { record: tenant } of store.list(tenants)) {
    const reports = store.list(copyReports, tenant.id).map(({ record }) => record)
    const fences = reports.filter(({ fencedSince }) => fencedSince !== undefined)
    for (const { record } of store.list(volumes, tenant.id)) {
      increase(byPhase, record.phase)
      for (const { role, state } of record.copies) if (role === 'replica') increase(replicasByState, state)
      for (const { cause } of record.promotions ?? []) increase(promotionsByCause, cause)
      if (record.spec.class !== 'object' && record.phase !== 'Deleting') missingCopies += missingIn(record)
      if (fences.some((report) => isOfPrimary(record, report))) fenced += 1
      if (isReplicated(record) && (record.promotable ?? []).length === 0) unprotected += 1
    }
    for (const { record } of store.list(pools, tenant.id)) divergences += record.quarantined?.length ?? 0
    for (const { record } of store.list(nodes, tenant.id)) {
      poolBytes.total += record.storage?.poolBytes ?? 0
      poolBytes.used += record.storage?.usedBytes ?? 0
    }
  }
  return {
    ...{ byPhase, replicasByState, promotionsByCause, missingCopies, unprotected, fenced, divergences },
    poolBytes,
  }
}
